const clauseAsSubject = 'Name the subject. Do not begin a sentence with a clause.';

/** A textlint rule: patterns that make a sentence hard to read once. */
const rules = [
  {
    // A clause as a subject, as in “what is read is checked”. A question ends with a question mark.
    pattern: /(?:^\s*|[.:;!?]\s+)((?:What|Who|Whoever|Whatever|Whichever|That which)\s(?![^.!?]*\?))/g,
    message: clauseAsSubject,
  },
  {
    // A clause as a subject after a conjunction, as in `so what is read is checked`.
    pattern: /\b(?:so|because|although|while|unless|if|where)\s+(what|who|whoever|whatever)\s/gi,
    message: clauseAsSubject,
  },
  {
    // The same after a comma or a colon. The second verb tells it from an object, as in `says so, and what to do`.
    pattern:
      /[,;:]\s+(?:(?:and|but)\s+)?(what)\s(?:is|was|has|had|came|comes|went|goes|follows|remains|counts|would)\b(?:(?!\b(?:if|when|where|that|which|while|because|and|or)\b)[^.,;:!?])*?\s(?:is|are|was|were|has|have|goes|ends|must|may|stays|does|keeps)\b/g,
    message: clauseAsSubject,
  },
  { pattern: /\b(such a one|so is one|those of it|one of those that)\b/gi, message: 'Name the thing.' },
  {
    pattern: /\b(persons?|somebody|nobody|anybody|everybody|whoever|whomever)\b/gi,
    message: 'Say “the user” or “you”, or name the part.',
  },
  { pattern: /\b(kept)\b/gi, message: 'Say “stored” or “cached”.' },
  { pattern: /\b(Faces?|unsealed|unopened)\b/g, message: 'Use the standard term (transport, encrypted).' },
];

function isFragment(node) {
  for (let { parent } = node; parent; { parent } = parent) {
    if (['Header', 'TableCell'].includes(parent.type)) return true;
  }
  return false;
}

export default function plainEnglish(context) {
  const { Syntax, RuleError, report, locator } = context;
  return {
    [Syntax.Str](node) {
      if (isFragment(node)) return;
      for (const { pattern, message } of rules) {
        for (const match of node.value.matchAll(pattern)) {
          const at = match.index + match[0].indexOf(match[1] ?? match[0]);
          const found = (match[1] ?? match[0]).trim();
          report(
            node,
            new RuleError(`${message} (“${found}”)`, { padding: locator.range([at, at + found.length]) }),
          );
        }
      }
    },
  };
}
