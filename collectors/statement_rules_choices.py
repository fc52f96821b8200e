"""The rules by which an English sentence is a decision, a plan or a proposal."""

from __future__ import annotations

from collectors.statement_rule import Rule, Where, make_rule

ANYWHERE, DECISION = Where.ANYWHERE, Where.DECISION
CONSEQUENCES, INTENDED = Where.CONSEQUENCES, Where.INTENDED

# Effects are told of users, choices of what is built.
_NOT_OF_THINGS = (
    r"^(?!(?:it|this|that|they|these|those|there|if|you|which|what|users|people|developers|teams"
    r"|customers|everyone|nobody|nothing)\b)"
)
_WORKS = (
    r"(?:provide|support|use|keep|store|require|accept|run|hold|own|live|follow|include|expose"
    r"|handle|return|send|publish|replace|stop|continue|remain|adopt|serve|host|manage|move|contain"
    r"|reject|validate|enforce|depend|read|write|offer|receive|consume|produce|apply|cover|report)\b"
)

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
        r"|also|benefit|save|spend|reduce|increase|improve|end up|still|pay|suffer|miss)\b)"
        r"[a-z]{2,}",
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
        "en.decided_we",
        "decision",
        72,
        DECISION,
        "we |team |project ",
        r"^(?:(?:when|if|once|for|in|as) [^;:]{2,120}, )?(?:we|the [\w ]{0,40}(?:team|project))"
        r"(?: also| now| therefore)?(?: no longer (?!need|have|want|know)[a-z]+| only [a-z]{3,}"
        r"| (?:will )?(?:support|provide|retain|require|drop|allow|limit|treat|ship|run|publish"
        r"|maintain|enforce|deprecate|continue|stop|avoid|prefer|test|release|host|build|deploy"
        r"|separate|share|define|introduce|remove|disable|enable|name|log|freeze|restrict|reuse))\b",
    ),
    make_rule(
        "en.kept_on",
        "decision",
        65,
        CONSEQUENCES,
        "we ",
        r"^we (?:also |now )?(?:retain|keep|disable|enable|require|drop|stop|adopt|deprecate|remove"
        r"|no longer (?:accept|support|use|allow|run|publish|maintain|build|ship))\b",
    ),
    make_rule(
        "en.decided_state",
        "decision",
        62,
        CONSEQUENCES,
        "frozen|excluded|exempt|limited|restricted|set to|dropped|replaced|deprecated",
        _NOT_OF_THINGS + r".{2,200}\b(?:is|are) (?:now |not |no longer |only )?(?:frozen"
        r"|excluded from|exempt from|limited to|restricted to|set to at (?:least|most)|dropped"
        r"|replaced (?:by|with)|deprecated in favou?r of)\b",
    ),
    make_rule(
        "en.thing_will",
        "decision",
        66,
        DECISION,
        " will ",
        _NOT_OF_THINGS + r"[^.;:]{2,160} will (?:not |only |always |never |also )?" + _WORKS,
    ),
    make_rule(
        "en.work_left",
        "plan",
        55,
        CONSEQUENCES,
        "",
        r"^(?:add|move|remove|update|document|create|replace|migrate|rename|delete|rewrite|deprecate"
        r"|announce|publish)\b(?! (?:is|are|was|of|it|them)\b)[ `].{12,}",
    ),
    make_rule(
        "en.needs_review",
        "requirement",
        62,
        CONSEQUENCES,
        "will need |will require |need to be |needs to be ",
        r"\bwill (?:need|require) (?:an? |the )?(?:[\w-]+ )?(?:review|approval|sign-?off)",
    ),
    make_rule(
        "en.proposed_needs",
        "proposal",
        58,
        INTENDED,
        "need to |needs to |has to |have to |would ",
        r"^(?!(?:you|it|this|that|they|these|there|we|i|if|users)\b)[^;:]{2,220}"
        r"\b(?:needs? to|has to|have to) (?!know\b|understand\b|think\b|wait\b|deal\b)[a-z]{2,}",
        _NOT_OF_THINGS + r"[^.;:,]{2,100} would (?:only |no longer |also )?(?:be (?:added|moved"
        r"|removed|replaced|stored|served|hosted|created|renamed|split|merged|kept|deprecated|made"
        r"|changed|generated|exposed|deployed)|listen|use|replace|live|publish|store|expose|handle"
        r"|consume|return|accept|call|read|write)\b",
    ),
    make_rule(
        "en.proposed_thing_will",
        "proposal",
        58,
        INTENDED,
        " will ",
        _NOT_OF_THINGS + r"[^.;:]{2,160} will (?:not |only |always |never |also )?" + _WORKS,
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
        r"^we (?:no longer (?!need|have)[a-z]+|only [a-z]{3,}|(?:add|move|remove|create|replace|use"
        r"|keep|make|store|introduce|switch|drop|split|host|build|stop|change|extend|expose|treat"
        r"|require|allow|accept|support|provide|publish|ship|run|disable|enable|retain|deprecate"
        r"|reuse|rename|define|limit|restrict|adopt))\b",
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
