"""Rules for English, and for markup and encodings, which are of no language."""

from __future__ import annotations

from .rules import Attack, rule

_STARTS = r"(?:^|[.!?:\n\"]\s*)"
_NOT_HOW_TO = r"(?<!how do i )(?<!how can i )(?<!how to )"
_NOT_OF_A_THING = r"(?!\s+(?:at|for|from|in|of|on)\b)"

_EN_ORDERS = (
    r"\b(?:instructions?|directions?|directives?|rules?|prompts?|context|guidance|guidelines?|commands?|orders|"
    r"polic(?:y|ies)|programming|training)\b"
)
_EN_EARLIER = (
    r"\b(?:all|any|every|previous|prior|above|earlier|preceding|initial|original|former|your|system)\b"
)
_EN_SAID = r"\b(?:above|before|you (?:were|have been|got|received|had)|given|told)\b"
_EN_SHOW = (
    r"\b(?:print|show|reveal|repeat|output|display|tell|give|list|share|dump|disclose|expose|recite|copy|write|convert|"
    r"encode|translate|summari[sz]e|paraphrase|"
    r"what (?:is|are|was|were|does))\b"
)
_EN_LIMITS = (
    r"\b(?:rules|restrictions|limits|limitations|filters?|guidelines|polic(?:y|ies)|censorship|morals)\b"
)

ENGLISH = (
    rule(
        Attack.OVERRIDE,
        "en",
        "ignore|disregard|forget|override|overrule|discard",
        r"\b(?:ignore|disregard|forget|override|overrule|discard)\b",
        _EN_EARLIER,
        _EN_ORDERS,
    ),
    rule(
        Attack.OVERRIDE,
        "en",
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget)\b",
        r"\b(?:everything|anything|all that|whatever)\b",
        _EN_SAID,
    ),
    rule(
        Attack.OVERRIDE,
        "en",
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget)\b",
        _EN_ORDERS,
        _EN_SAID,
    ),
    rule(
        Attack.OVERRIDE,
        "en",
        "follow|obey",
        r"\b(?:do not|don't|stop|never)\s+(?:follow|obey)(?:ing)?\b",
        _EN_EARLIER,
        _EN_ORDERS,
    ),
    rule(
        Attack.OVERRIDE,
        "en",
        "instruction|prompt|orders",
        _STARTS + r"new (?:\w+ )?(?:instructions?|prompt|orders)\s*:",
    ),
    rule(
        Attack.ROLE,
        "en",
        "you are now|you're now",
        _STARTS
        + r"you(?:'re| are) now (?:an?|the|dan|free|in)\b(?! (?:member|customer|subscriber|user|owner)\b)",
    ),
    rule(
        Attack.ROLE,
        "en",
        "from now on|from this moment|from here on",
        r"\bfrom (?:now on|this moment|here on)\b,?\s+you(?:'ll| will)? "
        r"(?:are|be|act|behave|answer|respond)\b",
    ),
    rule(
        Attack.ROLE,
        "en",
        "pretend",
        r"\bpretend\b",
        r"\b(?:no|not|never|without|free of|un(?:bound|censored|filtered|restricted|limited))\b",
        r"\b(?:rules?|restrict\w+|limit\w*|filter\w*|polic(?:y|ies)|guidelines|bound|censored|refus\w+)\b",
    ),
    rule(
        Attack.OVERRIDE,
        "en",
        "tell",
        r"\b(?:do not|don't|never|without) tell(?:ing)? the user\b",
    ),
    rule(
        Attack.ROLE,
        "en",
        "pretend",
        r"\bpretend (?:that )?(?:to be|you(?:'re| are))\b",
        r"\b(?:unfiltered|unrestricted|uncensored|unlimited|jailbroken|evil)\b",
    ),
    rule(
        Attack.ROLE,
        "en",
        "roleplay as|role-play as|act as|behave as|respond as|answer as|operate as",
        r"\b(?:role-?play|act|behave|respond|answer|operate) as\b",
        r"\b(?:malicious|evil|unfiltered|unrestricted|uncensored|unethical|amoral|jailbroken|dan|"
        r"never (?:refus|declin)\w+)\b",
    ),
    rule(
        Attack.ROLE,
        "en",
        "rules|restrictions|limit|filter|guidelines|policy|policies|censorship|morals",
        r"\b(?:act|behave|respond|answer|operate|you are|you have)\b",
        r"\b(?:no|without|free (?:of|from)|freed from|unbound by)\b(?: \w+){0,2}? "
        r"(?=rules|restric|limit|filter|guid|censor|moral|usual)",
        r"(?:" + _EN_LIMITS + r")" + _NOT_OF_A_THING,
    ),
    rule(Attack.ROLE, "en", "do anything now|you are dan", r"\bdo anything now\b|\byou are dan\b"),
    rule(
        Attack.MODE,
        "en",
        "mode",
        _NOT_HOW_TO + r"\b(?:activate|enable|enter|start|switch to|turn on|unlock|you are(?: now)? in)\s+"
        r"(?:the |your )?(?:dan|dev|developer|god|debug|admin|sudo|root|jailbreak|unrestricted)[ -]mode\b"
        + _NOT_OF_A_THING,
    ),
    rule(
        Attack.BYPASS,
        "en",
        "bypass|circumvent|disable|turn off|switch off|deactivate|remove|drop|lift|evade",
        r"\b(?:bypass|circumvent|disable|turn off|switch off|deactivate|remove|drop|lift|evade)\s+"
        r"(?:all |any |of |the |these )*(?:your (?:\w+ )?|(?:content|safety|ethical|moral|security) )"
        r"(?:restrictions?|filters?|guidelines|rules|safeguards?|guardrails?|limits|limitations|checks)\b"
        + _NOT_OF_A_THING,
    ),
    rule(
        Attack.BYPASS,
        "en",
        "safety|content|security|guardrail",
        r"\b(?:safety|content|security) (?:checks|filters?|rules|guidelines)\b (?:are|is|have been|has been)",
        r"\b(?:disabled|deactivated|off|lifted|removed|suspended)\b",
    ),
    rule(
        Attack.REVEAL,
        "en",
        "instructions|prompt|system|guidelines|directives",
        _EN_SHOW,
        r"\byour (?:\w+ ){0,3}?(?:instructions|(?:system )?prompt|system message|guidelines|directives)\b"
        + _NOT_OF_A_THING,
    ),
    rule(
        Attack.REVEAL,
        "en",
        "system prompt|system message|instructions|initial prompt|hidden prompt",
        _EN_SHOW,
        r"\bthe (?:\w+ )?(?:system|hidden|secret|internal|initial) (?:prompt|message|instructions)\b",
    ),
    rule(
        Attack.REVEAL,
        "en",
        "repeat|output|print|copy|recite",
        r"\b(?:repeat|output|print|copy|recite)\b",
        r"\b(?:everything|all|text|words?|content|conversation)\b",
        r"\b(?:above|before (?:this|my))\b",
    ),
)

ANY_LANGUAGE = (
    rule(
        Attack.MARKUP,
        "any",
        "<|",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>",
    ),
    rule(Attack.MARKUP, "any", "inst]|<<sys|<</sys", r"\[/?inst\]|<</?sys>>"),
    rule(
        Attack.MARKUP,
        "any",
        "<system|</system|[system]|# system",
        r"^\s*</?system(?:_prompt|_message)?>|</system>\s*\S|<system>[^<]{3,}</system|\[system\]\(#|"
        r"(?:^|\n)\s*#{2,}\s*system\b",
    ),
    rule(Attack.ENCODING, "any", "base64", r"\bbase64\s*[:=]\s*[a-z0-9+/]{12,}={0,2}"),
    rule(
        Attack.ENCODING,
        "any",
        "decode",
        r"\bdecode\b",
        r"\b(?:and|then)\s+(?:run|execute|follow|obey|perform|do (?:as|what))\b",
    ),
)
