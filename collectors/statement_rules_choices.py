"""The rules by which an English sentence is a decision, a plan or a proposal."""

from __future__ import annotations

from collectors.statement_rule import Rule, Where, make_rule

ANYWHERE, DECISION = Where.ANYWHERE, Where.DECISION
CONSEQUENCES, INTENDED = Where.CONSEQUENCES, Where.INTENDED

CHOICES: tuple[Rule, ...] = (
    make_rule("en.chosen_option", "decision", 95, ANYWHERE, "chosen option", r"^chosen option\b\W"),
    make_rule(
        "en.decided",
        "decision",
        90,
        ANYWHERE,
        "decided|decision|chose|opted|went with|agreed|settled|standardi|adopted",
        r"\bwe(?: have|'ve)?(?: also| therefore| finally)? "
        r"(?:decided (?:to|that|on|against)|chosen to|chose to|opted (?:to|for)|agreed (?:to|on)"
        r"|settled on|standardi[sz]ed on|adopted|went with)\b",
        r"\bit (?:was|has been) (?:decided|agreed) (?:to|that)\b",
        r"\bthe decision (?:is|was|has been)(?: made)? to\b",
    ),
    make_rule(
        "en.decision_section",
        "decision",
        80,
        DECISION,
        "",
        r"^(?:so |therefore,? )?(?:we|the team|all [a-z ]{2,40}) "
        r"(?:(?:will|shall)(?! (?:revisit|see|need|have to|discuss|explain|consider|look)\b)"
        r"|are going to|(?:do not|don't)(?! (?:want|need|have|know|think|believe|expect)\b)|use"
        r"|keep|adopt|choose|chose|select|selected|store|write"
        r"|implement|accept(?! that\b)|reject|follow|split|move|replace|switch|standardi[sz]e)\b",
        r"^(?:use|adopt|keep|store|implement|introduce|replace|switch to|start|apply|test|migrate"
        r"|move|document|remove|create|deprecate|enable|disable|build|split|add) [a-z`]",
        r"^we have (?:introduced|adopted|added|chosen|moved|replaced)\b",
    ),
    make_rule(
        "en.will_be",
        "decision",
        70,
        DECISION,
        " will ",
        r"^(?!(?:it|this|that|they|these|there|if|you|users|which)\b)[^.;:]{2,160} will "
        r"(?:(?:not |only |always |never |also |no longer )?be (?:held|kept|built|sent|set|put|run"
        r"|made|done|split|written|(?!needed\b|required\b|affected\b|considered\b)[a-z]{2,20}ed)\b"
        r"|only )",
    ),
    make_rule(
        "en.we_will",
        "decision",
        75,
        CONSEQUENCES,
        "we will |we shall |team will ",
        r"(?:^|, |\band |^(?:when|once) [^,;:]{2,120} )(?<!that )(?:we|[\w ]{0,40}\bteam) "
        r"(?:will|shall)(?: also| then| now| not| no longer)? "
        r"(?!(?:be|have|need|see|lose|get|gain|know|become|revisit|discuss|explain|consider|look"
        r"|also|benefit)\b)[a-z]{2,}",
    ),
    make_rule(
        "en.will_be_made",
        "decision",
        65,
        CONSEQUENCES,
        " will be ",
        r"^(?!(?:it|this|that|they|these|there|if|you|users|which)\b)[^.;:]{2,100} will be "
        r"(?:named|created|hosted|moved|migrated|stored|kept|replaced|removed|decommissioned|built"
        r"|deployed|written|renamed|retired|deleted)\b",
    ),
    make_rule(
        "en.will_need",
        "plan",
        60,
        CONSEQUENCES,
        "need to |have to ",
        r"^(?!users\b|teams\b|developers\b|you\b|they\b|it\b|this\b|that\b|there\b)"
        r"[^.;:]{2,120} will (?:also |then )?(?:(?:need|have) to\b|need (?:a|an|another|its)\b)",
    ),
    make_rule(
        "en.we_need",
        "requirement",
        60,
        CONSEQUENCES,
        "we ",
        r"^we (?:also |now )?(?:need|have) to\b",
    ),
    make_rule(
        "en.proposed_only",
        "proposal",
        60,
        INTENDED,
        "may only |should only |must ",
        r"^(?!you |it |this |there |we |that ).{2,160}\b(?:may|should) only [a-z]{2,}",
    ),
    make_rule(
        "en.plan",
        "plan",
        70,
        ANYWHERE,
        "plan|intend",
        r"(?<!\bwhat )\bwe(?: are|'re)? (?:also |currently )?"
        r"(?:plan|planning|intend|intending) to\b",
        r"\b(?:is|are) planned (?:for|to|in)\b",
        r"^(?!it\b|this\b|that\b|he\b|she\b)[^,;:.]{2,40} plans to [a-z]{2,}",
    ),
    make_rule(
        "en.propose",
        "proposal",
        70,
        ANYWHERE,
        "propos|this design|this rfc",
        r"\b(?:we|i) (?:would like to )?propose\b",
        r"^it is proposed\b",
        r"^this (?:proposal|design|rfc) (?:proposes|aims|adds|introduces|changes|defines|specifies"
        r"|requires|removes|replaces|keeps)\b",
        r"^the proposed [\w -]{2,40} (?:introduces|adds|removes|replaces|consists)\b",
    ),
    make_rule(
        "en.intended",
        "plan",
        50,
        INTENDED,
        "",
        r"^(?!.+\byour\b)"
        r"(?:[\w ]{2,40}: )?(?:add|move|remove|update|document|create|replace|migrate"
        r"|set up|enable|disable|support|write|fix|refactor|extract|implement|introduce|switch|drop"
        r"|deprecate"
        r"|convert|rename|split|merge|improve|investigate|build|deploy|publish|delete|make|use|stop"
        r"|store|reduce|optimi[sz]e|keep|retire|extend|expose|change)\b"
        r"(?! (?:is|are|was|were|of|this|it|them)\b)[ `]",
        r"^we (?:add|move|remove|create|replace|use|keep|make|store|introduce|switch|drop|split"
        r"|host|build|stop|change|extend|expose|treat|require|allow)\b",
    ),
    make_rule(
        "en.proposed_will",
        "proposal",
        60,
        INTENDED,
        " will ",
        r"(?:^|, )we will (?:not )?(?!(?:discuss|see|show|describe|explain|focus|consider|look|need"
        r"|return|now|not|be|have|assume|call|refer|likely|probably)\b)[a-z]{2,}",
        r"^(?!(?:it|this|that|they|these|there|if|you|which)\b)[^.;:]{2,100} will (?:not |only )?"
        r"be (?:held|kept|built|set|put|run|made|split|written|[a-z]{2,20}ed)\b",
    ),
)
