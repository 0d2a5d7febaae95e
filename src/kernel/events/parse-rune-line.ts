/** Terms in the form of an event. Values are decimal digits, and absent if the etching did not name them. */
interface ShownTerms {
  readonly amount: string | null;
  readonly cap: string | null;
  readonly heightStart: string | null;
  readonly heightEnd: string | null;
  readonly offsetStart: string | null;
  readonly offsetEnd: string | null;
}

/** A rune event in the form of an answer (docs/events.md). Amounts are decimal digits of base units. */
export type RuneLineEvent =
  | {
      readonly type: 'rune-etched';
      readonly txid: string;
      readonly runeId: string;
      readonly name: string;
      readonly divisibility: number;
      readonly symbol: string | null;
      readonly premine: string;
      readonly terms: ShownTerms | null;
      readonly turbo: boolean;
    }
  | {
      readonly type: 'rune-minted' | 'rune-burned';
      readonly txid: string;
      readonly runeId: string;
      readonly amount: string;
    }
  | {
      readonly type: 'rune-transferred';
      readonly output: string;
      readonly runeId: string;
      readonly amount: string;
    };

/** Parses a line of a text of runes. Throws a RangeError if the line is not of this version. */
export function parseRuneLine(line: string): RuneLineEvent {
  const [type, ...words] = line.split(' ');
  if (type === 'etched' && words.length === 8) return parseEtched(words as EtchedWords);
  if (words.length === 3) {
    const [subject, runeId, amount] = words as [string, string, string];
    if (type === 'minted') return { type: 'rune-minted', txid: subject, runeId, amount };
    if (type === 'burned') return { type: 'rune-burned', txid: subject, runeId, amount };
    if (type === 'transferred') return { type: 'rune-transferred', output: subject, runeId, amount };
  }
  throw new RangeError(`no event of runes: ${line}`);
}

type EtchedWords = [
  txid: string,
  runeId: string,
  name: string,
  divisibility: string,
  symbol: string,
  premine: string,
  terms: string,
  turbo: string,
];

function parseEtched(words: EtchedWords): RuneLineEvent {
  const [txid, runeId, name, divisibility, symbol, premine, terms, turbo] = words;
  return {
    type: 'rune-etched',
    txid,
    runeId,
    name: name.replaceAll('.', '•'),
    divisibility: Number(divisibility),
    symbol: symbol === '-' ? null : String.fromCodePoint(Number(symbol)),
    premine,
    terms: terms === '-' ? null : parseTerms(terms),
    turbo: turbo === 'turbo',
  };
}

function parseTerms(text: string): ShownTerms {
  const values = text.split(',').map((value) => (value === '-' ? null : value));
  if (values.length !== 6) throw new RangeError(`no terms of a rune: ${text}`);
  const [
    amount = null,
    cap = null,
    heightStart = null,
    heightEnd = null,
    offsetStart = null,
    offsetEnd = null,
  ] = values;
  return { amount, cap, heightStart, heightEnd, offsetStart, offsetEnd };
}
