"""Rules for Chinese, Japanese, Korean, Turkish and Arabic."""

from __future__ import annotations

from .rules import Attack, rule

EASTERN = (
    rule(
        Attack.OVERRIDE,
        "zh",
        "忽略|忽视|忽視|无视|無視|忘记|忘掉|忘記",
        r"(?:忽略|忽[视視]|[无無][视視]|忘[记記掉])",
        r"(?:之前|以前|以上|上述|上面|先前|前面|所有|一切|你的)",
        r"(?:指令|指示|[规規][则則]|提示|命令|[设設]定|限制)",
    ),
    rule(
        Attack.REVEAL,
        "zh",
        "系统|系統|指令|提示",
        r"(?:[显顯]示|[输輸]出|告[诉訴]|打印|重[复複]|透露|[说說]出|公[开開]|展示)",
        r"(?:系[统統](?:提示|指令|消息|信息)|(?:初始|最初|原始)的?(?:指令|提示)|你的(?:指令|提示[词詞]))",
    ),
    rule(
        Attack.REVEAL,
        "zh",
        "系统|系統|指令|提示",
        r"(?:系[统統](?:提示|指令|消息)|(?:初始|最初|原始)的?(?:指令|提示)|你的(?:指令|提示[词詞]))",
        r"(?:[显顯]示|[输輸]出|告[诉訴]|打印|重[复複]|[说說]出)",
    ),
    rule(
        Attack.ROLE,
        "zh",
        "没有|沒有|不受",
        r"你(?:[现現]在)?是|你将|你將",
        r"(?:[没沒]有|不受)(?:任何)?(?:限制|[约約]束|[规規][则則])",
    ),
    rule(
        Attack.OVERRIDE,
        "ja",
        "無視|忘れ|従わ|従う",
        r"(?:これまで|今まで|以前|上記|前の|すべて|全て|あなたの|元の|最初の)",
        r"(?:指示|命令|ルール|規則|プロンプト|設定|制約)",
        r"(?:無視し|忘れ[てろ]|忘れなさい|従わない|従うな)",
    ),
    rule(
        Attack.REVEAL,
        "ja",
        "システム|指示",
        r"(?:システム(?:プロンプト|メッセージ|指示)|(?:最初|初期|元|内部)の?指示|隠された指示)",
        r"(?:表示|出力|教えて|見せて|開示|繰り返|書き出)",
    ),
    rule(
        Attack.ROLE,
        "ja",
        "なし|なく|のない",
        r"(?:制限|制約|規則|ルール|検閲|フィルター?)(?:なし|なく|のない)",
        r"(?:答え|回答|応答|ai|アシスタント)",
    ),
    rule(
        Attack.OVERRIDE,
        "ko",
        "무시|잊어|잊고",
        r"(?:이전|앞선|위의|모든|지금까지|너의)",
        r"(?:지시|명령|규칙|지침|프롬프트)",
        r"(?:무시|잊어|잊고)",
    ),
    rule(
        Attack.REVEAL,
        "ko",
        "시스템|지시",
        r"(?:시스템 ?(?:프롬프트|메시지|지시)|(?:초기|숨겨진|처음) ?지시)",
        r"(?:보여|출력|알려|말해|공개)",
    ),
    rule(Attack.ROLE, "ko", "없이|없는", r"(?:제한|규칙|검열|제약) ?없(?:이|는)", r"(?:답|대답|ai|인공지능)"),
    rule(
        Attack.OVERRIDE,
        "tr",
        "yok say|unut|gormezden|goz ard|dikkate alma",
        r"\b(?:onceki|tum|butun|yukar[iı]daki|sana verilen|kurallar[iı]n)\w*",
        r"(?:talimat|kural|komut|yonerge|\b)",
        r"\b(?:yok say|unut\b|gormezden gel|goz ard[iı] et|dikkate alma)",
    ),
    rule(
        Attack.REVEAL,
        "tr",
        "sistem",
        r"\bsistem (?:istem|prompt|komut|talimat|mesaj)\w*",
        r"\b(?:goster|yaz|soyle|paylas)",
    ),
    rule(
        Attack.OVERRIDE,
        "ar",
        "تجاهل|انس",
        r"(?<!\w)(?:تجاهل|تجاهلي|انس)(?!\w)",
        r"(?:التعليمات|القواعد|الأوامر|تعليماتك|قواعدك)",
    ),
    rule(
        Attack.REVEAL,
        "ar",
        "النظام|تعليمات",
        r"(?:اعرض|أظهر|اكشف|اطبع|أخبرني)",
        r"(?:موجه النظام|تعليمات النظام|تعليماتك)",
    ),
)
