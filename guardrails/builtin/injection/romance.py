"""Rules for French, Spanish, Italian and Portuguese."""

from __future__ import annotations

from .rules import Attack, rule

ROMANCE = (
    rule(
        Attack.OVERRIDE,
        "fr",
        "ignore|oublie|abstraction|pas compte",
        r"\b(?:ignore[zr]?|oublie[zr]?|fai(?:s|tes) abstraction|ne (?:tiens|tenez) pas compte)\b(?! pas)",
        r"\b(?:toutes?|tous|tes|vos|precedente?s?|anterieure?s?|ci-dessus|initiale?s?)\b",
        r"(?:\b(?:instructions?|consignes?|regles?|directives?)\b|$)",
    ),
    rule(
        Attack.OVERRIDE,
        "fr",
        "ignore|oublie",
        r"\b(?:ignore[zr]?|oublie[zr]?)\b(?! pas)",
        r"\b(?:instructions?|consignes?|regles?|directives?)\b",
        r"\b(?:precedente?s?|anterieure?s?|ci-dessus|initiales?|donnees|recues)\b",
    ),
    rule(
        Attack.ROLE,
        "fr",
        "maintenant|desormais|sans",
        r"\b(?:tu es|vous etes|reponds|repondez|agis)\b",
        r"\bsans (?:\w+ )?(?:filtre|limite|restriction|regle|"
        r"censure)s?\b",
    ),
    rule(
        Attack.REVEAL,
        "fr",
        "prompt|instructions|consignes",
        r"\b(?:affiche|montre|revele|donne|repete|recopie|quel(?:le)?s sont)\w*\b",
        r"(?:\b(?:ton|votre|le) prompt\b|\b(?:tes|vos) (?:\w+ )?(?:instructions|consignes)\b|"
        r"\binstructions (?:initiales|systeme|cachees|secretes)\b)",
    ),
    rule(
        Attack.OVERRIDE,
        "es",
        "ignora|olvida|omite|caso omiso|descarta|desestima",
        r"\b(?:(?:ignora|olvida|descarta|desestima)[dr]?|omite|haz caso omiso)\b",
        r"\b(?:(?:todas|tus|sus) (?:\w+ ){0,2}?(?:instrucciones|indicaciones|reglas|normas|ordenes)|"
        r"(?:instrucciones|indicaciones|reglas|normas|ordenes) (?:\w+ )?"
        r"(?:anteriores|previas|dadas|de arriba))\b",
    ),
    rule(
        Attack.ROLE,
        "es",
        "sin ",
        r"\b(?:eres|responde|actua)\b",
        r"\bsin (?:\w+ )?(?:restriccion|filtro|limite|regla|norma|censura)\w*",
    ),
    rule(
        Attack.REVEAL,
        "es",
        "prompt|instrucciones|mensaje",
        r"\b(?:muestra(?:me)?|revela|dime|imprime|repite|cuales son)\b",
        r"(?:\b(?:tu|el) prompt\b|\btus (?:\w+ )?instrucciones\b|"
        r"\binstrucciones (?:ocultas|iniciales|originales|secretas|del sistema)\b|\bmensaje del? sistema\b)",
    ),
    rule(
        Attack.OVERRIDE,
        "it",
        "ignora|dimentica|trascura|tenere conto",
        r"\b(?:(?:ignora|dimentica|trascura)(?:re|te)?|non tenere conto)\b",
        r"\b(?:(?:tutte|tue|vostre) (?:\w+ )?(?:istruzioni|regole|indicazioni|direttive)|"
        r"(?:istruzioni|regole|indicazioni|direttive) (?:precedenti|ricevute|date|sopra))\b",
    ),
    rule(
        Attack.ROLE,
        "it",
        "senza",
        r"\b(?:sei|sii|rispondi|agisci)\b",
        r"\bsenza (?:\w+ )?(?:limit|restrizion|filtr|regol|censur)\w*",
    ),
    rule(
        Attack.REVEAL,
        "it",
        "prompt|istruzioni",
        r"\b(?:mostra(?:mi)?|rivela|stampa|ripeti|dimmi|quali sono)\b",
        r"(?:\b(?:tuo|il) prompt\b|\btue (?:\w+ )?istruzioni\b|"
        r"\bistruzioni (?:iniziali|nascoste|originali|segrete|di sistema)\b)",
    ),
    rule(
        Attack.OVERRIDE,
        "pt",
        "ignor|esque|desconsider|descart",
        r"\b(?:ignor[ae]|esquec[ae]|esquece|desconsider[ae]|descart[ae])\b",
        r"\b(?:(?:todas|suas|tuas) (?:\w+ ){0,2}?(?:instrucoes|regras|orientacoes|diretrizes)|"
        r"(?:instrucoes|regras|orientacoes|diretrizes) (?:anteriores|previas|acima|dadas|recebidas))\b",
    ),
    rule(
        Attack.ROLE,
        "pt",
        "sem ",
        r"\b(?:voce e|responda|aja)\b",
        r"\bsem (?:\w+ )?(?:restric|filtro|limite|regra|censura)\w*",
    ),
    rule(
        Attack.REVEAL,
        "pt",
        "prompt|instrucoes|mensagem",
        r"\b(?:mostr[ae]|revel[ae]|imprim[ae]|repita|diga|quais sao)\b",
        r"(?:\b(?:seu|teu|o) prompt\b|\b(?:suas|tuas) (?:\w+ )?instrucoes\b|"
        r"\binstrucoes (?:iniciais|ocultas|originais|do sistema)\b|\bmensagem d[eo] sistema\b)",
    ),
)
