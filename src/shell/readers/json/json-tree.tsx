import { useRef, useState } from 'preact/hooks';
import { Button } from '../../button.tsx';
import { formatCount } from '../../format.ts';
import { sanitizeName } from '../sanitize-name.ts';
import { readerTexts } from '../texts/texts.ts';
import {
  countOf,
  ExactNumber,
  entriesOf,
  firstContainers,
  isContainer,
  type JsonContainer,
  type JsonValue,
} from './parse-json.ts';

/** How many children of a value are shown at first, and after each request for more. */
const childrenPerStep = 100;
/** How many values “Expand” opens. */
const mostExpanded = 200;
/** The deepest level that is indented further. */
const mostIndent = 24;
/** The most characters of a text in the tree. The rest is in the text of the file. */
const mostCharacters = 2_000;

interface View {
  expanded: ReadonlySet<JsonContainer>;
  /** The number of shown children, where it is not `childrenPerStep`. */
  shown: ReadonlyMap<JsonContainer, number>;
}

/** One line of the tree. */
interface Row {
  id: string;
  level: number;
  /** Undefined for the root. */
  key: string | number | undefined;
  value: JsonValue;
  position: number;
  siblings: number;
  /** Set for the line that shows more children of a value. */
  more?: { container: JsonContainer; rest: number };
}

/** A tree as the ARIA patterns describe it: arrow keys move, open and close; Home and End jump. */
export function JsonTree({ root, name }: { root: JsonValue; name: string }) {
  const t = readerTexts();
  const [view, setView] = useState<View>(() => ({ expanded: firstContainers(root, 1, 0), shown: new Map() }));
  const [focused, setFocused] = useState('$');
  const tree = useRef<HTMLDivElement>(null);
  const rows = rowsOf(root, view);
  const current = rows.some(({ id }) => id === focused) ? focused : '$';

  function toggle(container: JsonContainer, isExpanded: boolean) {
    const expanded = new Set(view.expanded);
    if (isExpanded) expanded.add(container);
    else expanded.delete(container);
    setView({ ...view, expanded });
  }

  function showMore(container: JsonContainer) {
    const shown = new Map(view.shown).set(
      container,
      (view.shown.get(container) ?? childrenPerStep) + childrenPerStep,
    );
    setView({ ...view, shown });
  }

  function act({ value, more }: Row) {
    if (more) showMore(more.container);
    else if (isContainer(value)) toggle(value, !view.expanded.has(value));
  }

  function focus(row: Row | undefined) {
    if (!row) return;
    setFocused(row.id);
    tree.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)?.focus();
  }

  function keyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = rows.findIndex(({ id }) => id === current);
    const row = rows[at]!;
    const isOpen = isContainer(row.value) && !row.more && view.expanded.has(row.value);
    switch (event.key) {
      case 'ArrowDown':
        focus(rows[at + 1]);
        break;
      case 'ArrowUp':
        focus(rows[at - 1]);
        break;
      case 'Home':
        focus(rows[0]);
        break;
      case 'End':
        focus(rows.at(-1));
        break;
      case 'ArrowRight':
        if (isOpen) focus(rows[at + 1]);
        else if (!row.more && isContainer(row.value)) toggle(row.value, true);
        break;
      case 'ArrowLeft':
        if (isOpen) toggle(row.value as JsonContainer, false);
        else focus(rows.slice(0, at).findLast(({ level }) => level < row.level));
        break;
      case 'Enter':
      case ' ':
        act(row);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  return (
    <div class="reader-json">
      <p class="reader-tools">
        <span class="actions">
          <Button
            look="quiet"
            isSmall
            onClick={() =>
              setView({ ...view, expanded: firstContainers(root, mostExpanded, childrenPerStep) })
            }
          >
            {t.json.expandAll}
          </Button>
          <Button look="quiet" isSmall onClick={() => setView({ expanded: new Set(), shown: new Map() })}>
            {t.json.collapseAll}
          </Button>
        </span>
      </p>
      <div
        class="json-tree"
        role="tree"
        ref={tree}
        aria-label={t.json.label(sanitizeName(name))}
        onKeyDown={keyDown}
      >
        {rows.map((row) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys of all its items
          <div
            key={row.id}
            data-row={row.id}
            role="treeitem"
            class="json-row"
            tabIndex={row.id === current ? 0 : -1}
            aria-level={row.level}
            aria-posinset={row.position}
            aria-setsize={row.siblings}
            aria-expanded={isContainer(row.value) && !row.more ? view.expanded.has(row.value) : undefined}
            style={{ '--level': Math.min(row.level - 1, mostIndent) }}
            onClick={() => {
              setFocused(row.id);
              act(row);
            }}
            onFocus={() => setFocused(row.id)}
          >
            <RowText row={row} isOpen={isContainer(row.value) && view.expanded.has(row.value)} />
          </div>
        ))}
      </div>
    </div>
  );
}

function RowText({ row: { key, value, more }, isOpen }: { row: Row; isOpen: boolean }) {
  const t = readerTexts();
  if (more) return <span class="json-more">{t.json.more(formatCount(more.rest))}</span>;
  return (
    <>
      <span
        class={isContainer(value) ? `json-mark ${isOpen ? 'json-open' : ''}` : 'json-mark json-leaf'}
        aria-hidden="true"
      />
      {key !== undefined && (
        <>
          <bdi class={typeof key === 'number' ? 'json-index' : 'json-key'}>
            {sanitizeName(shortened(String(key)))}
          </bdi>
          <span class="json-colon">: </span>
        </>
      )}
      <ValueText value={value} />
    </>
  );
}

function ValueText({ value }: { value: JsonValue }) {
  const t = readerTexts();
  if (isContainer(value)) {
    const count = countOf(value);
    const isList = Array.isArray(value);
    const text = (isList ? t.json.items : t.json.keys)(count, formatCount(count));
    return <span class="json-count">{`${isList ? '[ ]' : '{ }'} ${text}`}</span>;
  }
  if (typeof value === 'string') {
    return <bdi class="json-string">{sanitizeName(JSON.stringify(shortened(value)))}</bdi>;
  }
  return <span class="json-literal">{value instanceof ExactNumber ? value.text : String(value)}</span>;
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}

/** The visible lines, from the top down. Not recursive: values can be nested 100,000 levels deep. */
function rowsOf(root: JsonValue, view: View): Row[] {
  const rows: Row[] = [];
  const waiting: Row[] = [{ id: '$', level: 1, key: undefined, value: root, position: 1, siblings: 1 }];
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    const { value, id, level, more } = row;
    if (more || !isContainer(value) || !view.expanded.has(value)) continue;
    const count = countOf(value);
    const shown = Math.min(count, view.shown.get(value) ?? childrenPerStep);
    const children: Row[] = entriesOf(value, 0, shown).map(([key, child], at) => ({
      id: `${id}.${at}`,
      level: level + 1,
      key,
      value: child,
      position: at + 1,
      siblings: count,
    }));
    if (shown < count) {
      const more = { container: value, rest: count - shown };
      const position = { position: shown + 1, siblings: count };
      children.push({ id: `${id}.more`, level: level + 1, key: undefined, value: null, more, ...position });
    }
    waiting.push(...children.reverse());
  }
  return rows;
}
