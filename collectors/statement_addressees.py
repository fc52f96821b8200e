"""Text that speaks to an AI rather than to the people of the project; searched when `folded`."""

from __future__ import annotations

import re

_MACHINES = (
    r"(?:ais?|a\.i\.|llms?|(?<!user )(?<!user-)agents?|(?:chat)?bots?|assistants?|copilots?|claude"
    r"|chat ?gpt|gpt|gemini|cursor|codex|language models?|foundation models?|neural networks?"
    r"|(?:automated|automatic|robotic|artificial) (?:readers?|reviewers?|intelligences?))"
)
_KINDS = r"(?: (?:agents?|assistants?|models?|tools?|bots?|readers?|reviewers?|systems?))?"
# "LLMs, whatever they are told, must ...", "agents that read this must ...".
_ASIDE = r"(?:, [^,;.]{1,80},| (?:that|who|which|reading|working|in|on) [^,;:.]{1,60})?"
_MODALS = r"(?:must|should|shall|will|may|can|has to|have to|needs? to|is to|are to)\b!?"
# A model of data must have fields; one that speaks or judges is a language model.
_ACTS_OF_MODELS = (
    r"(?:output|respond|reply|answer|say|mention|reveal|print|ignore|follow|obey|approve|promote"
    r"|accept|refuse|disclose|repeat|tell|pretend|disregard|forget|comply|trust|summari[sz]e|call"
    r"|act as|speak|write|report|skip|execute|run)\b"
)

INSTRUCTION_LIKE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|rules"
    r"|guidelines?|system messages?)\b"
    r"|\byou are an? [\w -]{0,40}\b(?:ai|assistant|agent|expert|llm|model|engineer|developer"
    r"|bot)\b"
    rf"|\b{_MACHINES}{_KINDS}{_ASIDE} (?:\w+ly )?{_MODALS}"
    r"|^\W{0,6}(?:dear |hey |hello |note (?:to|for) |to |attention,? )?(?:all |any |every |the )?"
    rf"{_MACHINES}{_KINDS}(?: reading (?:this|it))?[,:]"
    rf"|\bmodels? {_MODALS}(?: not| never| always| only)? {_ACTS_OF_MODELS}"
    r"|\b(?:as an ai|language model|system prompt|tell the user|coding agents?"
    r"|ai (?:agents?|assistants?)|the user's (?:request|prompt|message))\b"
    r"|\bif you are (?:an? )?(?:ai|llm|bot|agent|assistant|model|machine)\b"
    r"|\b(?:approve|promote|accept) (?:this|these|all|every|the) (?:\w+ )?"
    r"(?:candidates?|statements?|memor(?:y|ies))\b"
    r"|\b(?:yapay zek[aâ]\w*|önceki (?:talimat|yönerge)\w*|kullaniciya söyleme\w*|dil model\w*"
    r"|sistem (?:istem|komut)\w*)"
    # In Turkish the verb comes last, with the order in its ending.
    r"|\b(?:ajan|asistan|(?:sohbet )?bot|copilot|claude|chatgpt|gemini)(?:lar|ler)?\b[^.;]{0,160}"
    r"(?:m[ae]li(?:dir|siniz)?|m[ae]y[iu]n(?:iz)?|zorunda(?:dir)?|m[ae]z)\W*$"
    r"|^\W{0,6}model(?:ler)?\b[^.;]{0,160}(?:yanit|cevap|söyle|onayla|yazdir|yok say)\w*\W*$"
)
