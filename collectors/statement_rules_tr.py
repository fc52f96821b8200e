"""The rules by which a Turkish sentence is a statement; `statement_rules.py` joins them."""

from __future__ import annotations

from collectors.statement_rule import Rule, Where, make_rule

ANYWHERE, GUIDANCE, RULES_PLACE = Where.ANYWHERE, Where.GUIDANCE, Where.RULES
DECISION, INTENDED = Where.DECISION, Where.INTENDED

# The verb ends its clause: what follows is an aside, an example or the next clause.
_END = r"(?=\W{0,6}$| ?[(\u2014\u2192;:]| - )"
_STEMS = (
    r"tazele|çaliştir|öner|üret|oku|incele|raporla|bildir|seç|oluştur|sil|açikla|listele|uygula"
    r"|işaretle"
    r"|hazirla|temizle|göster|onayla|kur|gönder|kullan|yap|et|ekle|yaz|tut|koru|önle|sinirla|ver|koy|ayir|böl|soyutla|doğrula|tanimla"
    r"|güncelle|belirt|yanitla|değerlendir|çaliş|uy|kaçin|sakla|yönet|taşi|kaldir|paylaş|adlandir|isimlendir|al"
)

TURKISH: tuple[Rule, ...] = (
    make_rule(
        "tr.decided",
        "decision",
        90,
        ANYWHERE,
        "karar|tercih|benimse|seçtik",
        r"\b(?:karar (?:verdik|verildi|verilmiştir|alindi|aldik)|kararlaştirildi|kararlaştirdik"
        r"|tercih ettik|tercih edildi|benimsedik|benimsendi|seçtik)" + _END,
    ),
    make_rule(
        "tr.decision_section",
        "decision",
        80,
        DECISION,
        "ağiz|eceğiz|acaktir|ecektir|yoruz|seçil",
        r"\b\w{2,40}(?:acağiz|eceğiz|acaktir|ecektir)" + _END,
        r"\b(?:kullaniyoruz|seçiyoruz|benimsiyoruz|tercih ediyoruz|karar veriyoruz|geçiyoruz"
        r"|seçildi|seçilmiştir)" + _END,
    ),
    make_rule(
        "tr.must",
        "requirement",
        85,
        ANYWHERE,
        "mali|meli",
        r"\b(?!temeli|emeli|ameli|kemali|jamali|somali)\w{2,40}(?:mali|meli)(?:dir|yiz|siniz)?"
        + _END,
    ),
    make_rule(
        "tr.required",
        "requirement",
        80,
        ANYWHERE,
        "zorun|şart|mecburi|gerek|yasak|izin verilmez",
        r"\b(?:zorunlu(?:dur)?|zorunda(?:dir|yiz|siniz)?|şart(?:tir)?|mecburidir|yasak(?:tir)?"
        r"|izin verilmez)" + _END,
    ),
    make_rule(
        "tr.needed",
        "requirement",
        60,
        GUIDANCE,
        "gerek|maz|mez",
        r"\b(?:gerekir|gerekli|gereklidir|gerekmektedir)" + _END,
        # "Cannot", not the negative of a verb in -la, such as "başlamaz".
        r"\b(?:\w{1,40}(?:[iuü]l|[^\Wl])(?:amaz|emez)|(?:al|ol|kal|bul)amaz|(?:gel|bil)emez)"
        + _END,
    ),
    make_rule(
        "tr.never",
        "requirement",
        75,
        ANYWHERE,
        "asla|hiçbir zaman|kesinlikle",
        r"\b(?:asla|hiçbir zaman|kesinlikle)\b.{2,250}(?:mayin|meyin|mayiniz|meyiniz|maz|mez)"
        + _END,
    ),
    make_rule(
        "tr.always",
        "convention",
        70,
        ANYWHERE,
        "her zaman|daima|mutlaka",
        r"\b(?:her zaman|daima|mutlaka) .{2,250}"
        r"(?:kullan|et|yaz|yap|ekle|tut|kullanin|edin|yazin|yapin|çaliştirin|ekleyin|tutun|olsun)(?:iz)?"
        + _END,
    ),
    make_rule(
        "tr.convention",
        "convention",
        65,
        GUIDANCE,
        "r|z|kullan|tercih|kaçin",
        r"\b(?:sabit kalir|korunur|kullanin|kullanmayin|kullanilir|kullanilmaz|yazilir"
        r"|yazilmaz|yapilir|yapilmaz"
        r"|eklenir|eklenmez|tutulur|tutulmaz|adlandirilir|isimlendirilir|tercih (?:edin|edilir"
        r"|ederiz)|kaçinin|kaçinilir|uyulur|edilmez|açilmaz|alinmaz|verilmez|birakilmaz|hazirlanir|bildirilir"
        r"|konuşulur|doğrulanir|kabul edilemez|tutun|yönetin|saklayin|ayirin|bölün"
        r"|uyun|koruyun|kullaniyoruz|kullaniriz|kullanmayiz)" + _END,
    ),
    make_rule(
        "tr.plan",
        "plan",
        70,
        ANYWHERE,
        "planl|hedefliyoruz",
        r"\b(?:planliyoruz|planlaniyor|planlanmaktadir|planlandi|hedefliyoruz)" + _END,
    ),
    make_rule(
        "tr.intended",
        "plan",
        55,
        INTENDED,
        "ağiz|eceğiz|acaktir|ecektir|acak|ecek",
        r"\b\w{1,40}(?:acağiz|eceğiz|acaktir|ecektir|ilecek|ulacak|ülecek|ilacak|nacak|necek)"
        + _END,
    ),
    make_rule(
        "tr.only",
        "requirement",
        58,
        GUIDANCE,
        "sadece|yalnizca",
        r"\b(?:sadece|yalnizca)\b.{2,200}(?:[iuü]l[iuü]r|[aeiuü]n[iuü]r|içindir|[ae]bilir)" + _END,
    ),
    make_rule(
        "tr.propose",
        "proposal",
        70,
        ANYWHERE,
        "öner",
        r"\b(?:öneriyoruz|öneriyorum|önerilmektedir)" + _END,
    ),
    make_rule(
        "tr.rule",
        "convention",
        55,
        RULES_PLACE,
        "r|z",
        r"\b(?!bulunur|görünür|denir|bilinir|sayilir|anilir|anlatilir|açiklanir|sağlanir|beklenir)"
        r"(?!\w{2,40}[ae]bilir\b)\w{1,40}(?:[iuü]l[iuü]r|[aeiuü]n[iuü]r|[ae]maz|mez|maz|acaktir|ecektir)"
        + _END,
    ),
    make_rule(
        "tr.do_not",
        "convention",
        60,
        GUIDANCE,
        "m",
        r"\b\w{2,40}m[ae]y[iuü]n(?:[iuü]z)?" + _END,
        r"\b(?:yapma|başlama|deme|uyma|girme|kullanma|birakma|etme)" + _END,
    ),
    make_rule(
        "tr.imperative",
        "convention",
        50,
        RULES_PLACE,
        "",
        rf"\b(?:{_STEMS})(?:y?[iuü]n(?:[iuü]z)?)?" + _END,
        r"\bedin(?:iz)?" + _END,
    ),
)
