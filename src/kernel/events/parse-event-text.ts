import { charmNames } from '#kernel/primitives/charm.ts';

/** An inscription event as it is served. Fields are null if they are unknown (docs/events.md). */
export type InscriptionEvent =
  | {
      readonly type: 'inscription-created';
      readonly inscriptionId: string;
      readonly sequence: number | null;
      readonly number: number | null;
      readonly charms: readonly string[] | null;
      /** `<txid>:<vout>:<offset>`, the null outpoint if it is lost, `unbound`, or null. */
      readonly location: string | null;
      readonly parents: readonly string[] | null;
    }
  | {
      readonly type: 'inscription-transferred';
      readonly inscriptionId: string;
      readonly sequence: number | null;
      readonly oldLocation: string | null;
      readonly newLocation: string | null;
    };

/** An event of any kind: its type, and its other fields. */
export interface ParsedEvent {
  readonly type: string;
}

const newline = 0x0a;

/**
 * The events of a canonical text from one index on (the first is 1, as in an event's id), with their indexes. Reads
 * only our own texts. Throws a RangeError if one ends within a line, and the errors of `parseLine`.
 */
export function* parseEventText<Event>(
  text: Buffer,
  fromIndex: number,
  parseLine: (line: string) => Event,
): Generator<[number, Event]> {
  let start = 0;
  for (let index = 0; start < text.length; index++) {
    const end = text.indexOf(newline, start);
    if (end < 0) throw new RangeError('a canonical text ends within a line');
    if (index > 0 && index >= fromIndex) yield [index, parseLine(text.toString('latin1', start, end))];
    start = end + 1;
  }
}

/** Reads a line of a text of inscriptions. Throws a RangeError if it is not of this version. */
export function parseInscriptionLine(line: string): InscriptionEvent {
  const [type, ...words] = line.split(' ');
  if (type === 'created' && words.length === 6) return parseCreated(words as CreatedWords);
  if (type === 'transferred' && words.length === 4) return parseTransferred(words as TransferredWords);
  throw new RangeError(`no event: ${line}`);
}

type CreatedWords = [
  id: string,
  sequence: string,
  number: string,
  charms: string,
  location: string,
  parents: string,
];
type TransferredWords = [id: string, sequence: string, oldLocation: string, newLocation: string];

function parseCreated([
  inscriptionId,
  sequence,
  number,
  charms,
  location,
  parents,
]: CreatedWords): InscriptionEvent {
  const bits = numberOrNull(charms);
  return {
    type: 'inscription-created',
    inscriptionId,
    sequence: numberOrNull(sequence),
    number: numberOrNull(number),
    charms: bits === null ? null : charmNames(bits),
    location: locationOf(location),
    parents: parents === '?' ? null : parents === '-' ? [] : parents.split(','),
  };
}

function parseTransferred([inscriptionId, sequence, before, after]: TransferredWords): InscriptionEvent {
  return {
    type: 'inscription-transferred',
    inscriptionId,
    sequence: numberOrNull(sequence),
    oldLocation: locationOf(before),
    newLocation: locationOf(after),
  };
}

function numberOrNull(word: string): number | null {
  return word === '?' ? null : Number(word);
}

function locationOf(word: string): string | null {
  if (word === '?') return null;
  return word === '-' ? 'unbound' : word;
}
