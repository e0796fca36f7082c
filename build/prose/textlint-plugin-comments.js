/**
 * A textlint plugin: gives each comment and each name of a test to the rules as a paragraph. Blanks everything else, so that
 * positions stay.
 */
const comment = /\/\*\*?([\s\S]*?)\*\/|^[ \t]*\/\/[/!]?[ \t]?(.*)$|[^:'"`]\/\/[ \t](.*)$/gm;
/** Parts of comments that are no prose: code, URLs, tags, and the names of linter rules. */
const noProse = /`[^`]*`|https?:\/\/\S+|@(?:param|returns|throws)\b|biome-ignore.*|@ts-\S+.*|<reference.*/g;

const testFile = /\.(?:test|screens)\.tsx?$/;
/** The first argument of `it(`, `test.describe(`, `attack(` or `it.each(…)(`, if it is a string in one line. */
const testName =
  /(?:(?<![.\w])(?:it|test|describe|attack)(?:\.[a-zA-Z]+)*|(?<=[\w)\]}'"`])\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1/g;

const blank = (text) => text.replace(/[^\n]/g, ' ');

const withoutStars = (text) => text.replace(/^([ \t]*)\*/gm, '$1 ');

class CommentProcessor {
  availableExtensions() {
    return ['.ts', '.tsx', '.js', '.mjs', '.rs'];
  }

  processor() {
    return {
      preProcess(text, filePath) {
        const children = testFile.test(filePath ?? '') ? testNames(text) : [];
        for (const match of text.matchAll(comment)) {
          const body = match[1] ?? match[2] ?? match[3] ?? '';
          if (body.trim() === '') continue;
          const start = match.index + match[0].lastIndexOf(body);
          const value = withoutStars(body).replace(
            noProse,
            (found) => `${'x'.repeat(Math.min(found.length, 1))}${blank(found).slice(1)}`,
          );
          children.push(paragraph(text, start, value));
        }
        return {
          type: 'Document',
          raw: text,
          range: [0, text.length],
          loc: locate(text, 0, text.length),
          children,
        };
      },
      postProcess(messages, filePath) {
        return { messages, filePath: filePath ?? '<text>' };
      },
    };
  }
}

/** Names begin with a capital letter here, as the sentences that the rules expect. */
function testNames(text) {
  return [...text.matchAll(testName)].map(({ 0: call, 2: name, index }) => {
    const value = `${name[0].toUpperCase()}${name.slice(1)}`;
    return paragraph(text, index + call.length - name.length - 1, value);
  });
}

function paragraph(text, start, value) {
  const place = {
    raw: value,
    range: [start, start + value.length],
    loc: locate(text, start, start + value.length),
  };
  return { type: 'Paragraph', ...place, children: [{ type: 'Str', value, ...place }] };
}

function locate(text, start, end) {
  return { start: positionAt(text, start), end: positionAt(text, end) };
}

function positionAt(text, offset) {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - (before.lastIndexOf('\n') + 1) };
}

export default { Processor: CommentProcessor };
