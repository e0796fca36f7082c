/**
 * A plug-in of Stryker. Errors have codes, which tests check. Their messages are for people, and a test of the words would
 * repeat them. So Stryker does not change texts with a blank in a `throw` or in `new …Error(…)`.
 */
export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore } }];

/** @returns {string | undefined} why the node and its children are not mutated. */
function shouldIgnore(path) {
  return isSentence(path.node) && path.findParent(isError) ? 'The message of an error.' : undefined;
}

function isSentence({ type, value, quasis }) {
  if (type === 'StringLiteral') return value.includes(' ');
  return type === 'TemplateLiteral' && quasis.some(({ value: { raw } }) => raw.includes(' '));
}

function isError({ node: { type, callee } }) {
  return type === 'ThrowStatement' || (type === 'NewExpression' && /Error$/.test(callee.name ?? ''));
}
