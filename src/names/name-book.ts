import { skeletonsOf } from './petname.ts';

/** The giver of a name: the user, the gateway's host, or the owner of a list. */
export type NameSource = { kind: 'own' } | { kind: 'host' } | { kind: 'list'; label: string };

/** A name with the address that it stands for. */
export interface NameMeaning {
  name: string;
  source: NameSource;
  /** 64 hex digits in lower case. */
  address: string;
}

export interface NameSources {
  /** The user's names: name → address. */
  own: Readonly<Record<string, string>>;
  host: Readonly<Record<string, string>>;
  /** The names of each list, by the label that the user or the host gave the list. */
  lists: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** The result of a search for a name. */
export type Resolved =
  /** `others` are the meanings of the same text elsewhere with another address. */
  | { kind: 'found'; meaning: NameMeaning; others: NameMeaning[] }
  /**
   * Several sources give the name another address, and none of them is the user. Or only lists have the name, and it
   * looks like a name with another address.
   */
  | { kind: 'conflict'; meanings: NameMeaning[] }
  | { kind: 'unknown' };

/** How a name is written: `~name` of the user, `name` of the host, `name@list` of a list. */
export function written({ name, source }: NameMeaning): string {
  if (source.kind === 'own') return `~${name}`;
  return source.kind === 'host' ? name : `${name}@${source.label}`;
}

/** All names that a program knows. An address is never a name, so no name hides an address. */
export class NameBook {
  /** The user's names come first, then those of the host, then those of the lists. */
  readonly all: readonly NameMeaning[];
  readonly #byName = new Map<string, NameMeaning[]>();
  readonly #bySkeleton = new Map<string, NameMeaning[]>();
  readonly #byAddress = new Map<string, NameMeaning[]>();

  constructor({ own, host, lists }: NameSources) {
    const meanings = (names: Readonly<Record<string, string>>, source: NameSource) =>
      Object.entries(names).map(([name, address]) => ({ name, source, address: address.toLowerCase() }));
    this.all = [
      ...meanings(own, { kind: 'own' }),
      ...meanings(host, { kind: 'host' }),
      ...Array.from(lists).flatMap(([label, names]) => meanings(names, { kind: 'list', label })),
    ];
    for (const meaning of this.all) {
      add(this.#byName, meaning.name, meaning);
      for (const skeleton of skeletonsOf(meaning.name)) add(this.#bySkeleton, skeleton, meaning);
      add(this.#byAddress, meaning.address, meaning);
    }
  }

  /**
   * Finds what a text means. `~name` is the user's name only, `name@list` that of one list only. A bare name is the
   * user's first. Without a name of the user, it is what all sources agree on.
   * Security: the owner of a list could wait for a mistyped name. So a bare name of lists only must not look like another.
   */
  resolve(text: string): Resolved {
    const at = text.indexOf('@');
    const isOwn = text.startsWith('~');
    if (at > 0) {
      const [name, label] = [text.slice(isOwn ? 1 : 0, at), text.slice(at + 1)];
      const isOfList = ({ source }: NameMeaning) => source.kind === 'list' && source.label === label;
      return this.#found(this.#byName.get(name)?.find(isOfList));
    }
    const meanings = this.#byName.get(isOwn ? text.slice(1) : text) ?? [];
    const own = meanings.find(({ source }) => source.kind === 'own');
    if (own || isOwn) return this.#found(own);
    const [first] = meanings;
    if (!first) return { kind: 'unknown' };
    const isConflict = meanings.some(({ address }) => address !== first.address);
    if (isConflict) return { kind: 'conflict', meanings };
    const alike = first.source.kind === 'list' ? this.conflictsOf(first) : [];
    return alike.length > 0 ? { kind: 'conflict', meanings: [first, ...alike] } : this.#found(first);
  }

  /** Whether the host has this name, so that `/<name>/` opens it. */
  isOfHost(name: string): boolean {
    return this.#byName.get(name)?.some(({ source }) => source.kind === 'host') ?? false;
  }

  #found(meaning: NameMeaning | undefined): Resolved {
    if (!meaning) return { kind: 'unknown' };
    return { kind: 'found', meaning, others: this.conflictsOf(meaning) };
  }

  /** The names that are or look like this name, and stand for another address. */
  conflictsOf({ name, address }: NameMeaning): NameMeaning[] {
    const alike = skeletonsOf(name).flatMap((skeleton) => this.#bySkeleton.get(skeleton) ?? []);
    return [...new Set(alike)].filter((other) => other.address !== address);
  }

  /** The names of an address, those of the user first. @param address 64 hex digits in lower case. */
  namesOf(address: string): readonly NameMeaning[] {
    return this.#byAddress.get(address) ?? [];
  }
}

/** For texts whose author is a stranger. */
export const noNames = new NameBook({ own: {}, host: {}, lists: new Map() });

function add<K>(map: Map<K, NameMeaning[]>, key: K, meaning: NameMeaning): void {
  const known = map.get(key);
  if (known) known.push(meaning);
  else map.set(key, [meaning]);
}
