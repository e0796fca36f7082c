import { createLowlight } from 'lowlight';
import { groupOf, type LanguageGroup } from './languages.ts';

/** Text, or a part of the text with the names of its classes. */
export type HighlightNode = string | { classes: string[]; children: HighlightNode[] };

type Grammars = NonNullable<Parameters<typeof createLowlight>[0]>;

/** Grammars by group: a file for each of 30 languages would be 30 more files of the app to verify. */
const groups: Record<LanguageGroup, () => Promise<Grammars>> = {
  web: async () => (await import('./grammars-web.ts')).grammars,
  systems: async () => (await import('./grammars-systems.ts')).grammars,
  scripts: async () => (await import('./grammars-scripts.ts')).grammars,
};

/** Finds the parts of code. The result is a tree and not HTML, so that nothing has to be sanitised. */
export async function highlight(text: string, language: string): Promise<HighlightNode[]> {
  const group = groupOf(language);
  if (!group) return [text];
  const lowlight = createLowlight(await groups[group]());
  return lowlight.highlight(language, text).children.flatMap(asNode);
}

type Child = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'][number];

function asNode(child: Child): HighlightNode[] {
  if (child.type === 'text') return [child.value];
  if (child.type !== 'element') return [];
  const { className } = child.properties;
  const classes = Array.isArray(className) ? className.map(String) : [];
  return [{ classes, children: child.children.flatMap(asNode) }];
}
