import { strict as assert } from 'node:assert';

/**
 * The name, number, letter and version of a kind of events. Texts, ids, hashes and answers use them (docs/events.md).
 */
export interface EventKindIdentity {
  /** The value of `kind` in requests, and the second word of the kind's texts, in lower-case letters. */
  readonly name: string;
  /** Number of the kind in the tables, from 0 to 32767. It is never given to another kind. */
  readonly number: number;
  /** One lower-case letter, or nothing. It is before the index in the ids of the kind's events. */
  readonly letter: string;
  /** Version of the kind's canonical text. If any byte of any text changes, the version and all hashes change. */
  readonly version: number;
}

/** The kind of events that is used if a request names no kind. */
export const inscriptionKind: EventKindIdentity = { name: 'inscriptions', number: 0, letter: '', version: 1 };

type Marks = Omit<EventKindIdentity, 'version'>;

/** Reserved names, numbers and letters of kinds, whether these kinds are registered or not. */
const reserved: readonly Marks[] = [
  inscriptionKind,
  { name: 'runes', number: 1, letter: 'r' },
  { name: 'sales', number: 2, letter: 's' },
];

const numberMax = 2 ** 15 - 1;

/** How many of the fields name, number and letter are equal in two kinds, from 0 to 3. */
function sharedMarks(one: Marks, other: Marks): number {
  return [one.name === other.name, one.number === other.number, one.letter === other.letter].filter(Boolean)
    .length;
}

/** Returns the kinds unchanged. Throws an AssertionError if two kinds cannot be told apart. */
export function checkedEventKinds<Kind extends EventKindIdentity>(kinds: readonly Kind[]): readonly Kind[] {
  for (const [at, kind] of kinds.entries()) {
    const { name, number, letter, version } = kind;
    assert(/^[a-z]{1,40}$/u.test(name), `${name} is not a name of a kind of events`);
    assert(Number.isInteger(number) && number >= 0 && number <= numberMax, `the number of ${name}`);
    assert(/^[a-z]?$/u.test(letter), `the letter of ${name}`);
    assert(Number.isInteger(version) && version >= 1 && version <= numberMax, `the version of ${name}`);
    const isReserved = reserved.some((one) => sharedMarks(kind, one) === 3);
    const others = [...(isReserved ? [] : reserved), ...kinds.slice(0, at)];
    const mistaken = others.find((other) => sharedMarks(kind, other) > 0);
    assert(mistaken === undefined, `${name} and ${mistaken?.name} are mistaken for each other`);
  }
  return kinds;
}
