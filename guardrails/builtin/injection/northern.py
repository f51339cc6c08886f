"""Rules for German, Dutch, Polish and Russian."""

from __future__ import annotations

from .rules import Attack, rule

NORTHERN = (
    rule(
        Attack.OVERRIDE,
        "de",
        "ignorier|vergiss|missacht|verwirf",
        r"\b(?:ignoriere?|vergiss(?! nicht)|missachte|verwirf)\b",
        r"\b(?:alle|jede|vorherig|bisherig|obig|fruher|vorig|ursprunglich|dein|eigen)\w*",
        r"\b(?:anweisung|regel|vorgabe|instruktion|befehl|richtlinie|prompt)\w*",
    ),
    rule(
        Attack.OVERRIDE,
        "de",
        "vergiss|ignorier",
        r"\b(?:vergiss(?! nicht)|ignoriere?)\b",
        r"\balles\b",
        r"\b(?:bisher|vorher|oben|dir)\b",
    ),
    rule(
        Attack.ROLE,
        "de",
        "du bist|antworte",
        r"\bdu bist (?:ab )?(?:jetzt|nun|sofort)\b",
        r"\b(?:ki|ai|assistent\w*|chat-?bot|bot|modell|dan)\b",
    ),
    rule(
        Attack.ROLE,
        "de",
        "ohne",
        r"\b(?:antworte|handle|du bist)\b",
        r"\bohne (?:\w+ )?(?:einschrankung|regel|filter|grenze|zensur)\w*",
    ),
    rule(
        Attack.MODE,
        "de",
        "entwicklermodus|entwickler-modus|dan|debug",
        r"\b(?:aktiviere?|schalte?|starte|wechsle)\b(?! ich)",
        r"\b(?:entwickler|dan|debug)-?modus\b"
        r"(?!\s+(?:am|an|auf|bei|im|in|von)\b)",
    ),
    rule(
        Attack.BYPASS,
        "de",
        "umgeh|deaktivier",
        r"\b(?:umgehe?|deaktiviere?)\b(?! ich)",
        r"\bdeine?\w*",
        r"\b(?:sicherheit|filter|regel|richtlinie)\w*",
    ),
    rule(
        Attack.REVEAL,
        "de",
        "system|dein",
        r"\b(?:zeig\w*|nenn\w*|gib|verrat\w*|wiederhol\w*|wie lauten|was sind|was steht)\b",
        r"(?:\bsystem-?(?:prompt|nachricht|anweisung)\w*|"
        r"\bdeine?[nrs]? (?:\w+ )?(?:anweisungen|instruktionen)\b)",
    ),
    rule(
        Attack.OVERRIDE,
        "nl",
        "negeer|vergeet",
        r"\b(?:negeer|vergeet(?! niet))\b",
        r"\b(?:eerdere|vorige|bovenstaande|alle|je|jouw)\b",
        r"\b(?:instructies|regels|opdrachten|aanwijzingen)\b",
    ),
    rule(
        Attack.REVEAL,
        "nl",
        "systeem|instructies",
        r"\b(?:toon|laat|geef|onthul|herhaal|wat zijn)\b",
        r"(?:\bsysteem-?(?:prompt|instructies|bericht)\b|\b(?:je|jouw) (?:\w+ )?instructies\b)",
    ),
    rule(
        Attack.OVERRIDE,
        "pl",
        "ignoruj|zignoruj|zapomnij|pomin",
        r"\b(?:zignoruj|ignoruj|zapomnij|pomin)\b",
        r"\b(?:poprzedni|wszystki|swoi|swoje|powyzsz|wczesniejsz)\w*",
        r"\b(?:instrukcj|polece|zasad|regu)\w*",
    ),
    rule(
        Attack.REVEAL,
        "pl",
        "system|instrukcj",
        r"\b(?:pokaz|wyswietl|podaj|ujawnij|wypisz)\b",
        r"(?:\bprompt\w* systemow\w*|\bsystemow\w+ (?:prompt|instrukcj)\w*|\bswoje instrukcje\b)",
    ),
    rule(Attack.ROLE, "pl", "odpowiadaj", r"\bodpowiadaj\b", r"\bbez (?:ogranicze|filtr|cenzur|zasad)\w*"),
    rule(
        Attack.OVERRIDE,
        "ru",
        "игнорируи|проигнорируи|забудь|не обращаи|отбрось",
        r"\b(?:(?:про)?игнорируи\w*|(?<!не )забудь\w*|не обращаи\w* внимани\w*|отбрось)\b",
        r"\b(?:предыдущ|прежн|прошл|все|свои|твои|данн|системн)\w*",
        r"\b(?:инструкци|указани|правил|команд)\w*",
    ),
    rule(
        Attack.REVEAL,
        "ru",
        "системн|инструкци",
        r"\b(?:покажи|выведи|раскрои|повтори|напиши|скажи|какие у тебя)\b",
        r"(?:\bсистемн\w+ (?:промпт|инструкци|сообщени|подсказк)\w*|\b(?:свои|твои) (?:\w+ )?инструкци\w*)",
    ),
    rule(
        Attack.ROLE,
        "ru",
        "без ",
        r"\b(?:отвечаи\w*|ты теперь|теперь ты|отныне ты)\b",
        r"\bбез (?:\w+ )?(?:ограничени|цензур|фильтр|правил)\w*",
    ),
)
