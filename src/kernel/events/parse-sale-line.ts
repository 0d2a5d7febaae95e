import type { SaleEvidence, StoredNames } from '#kernel/sales/sale-evidence.ts';
import { emptyScript } from './sale-lines.ts';

/** A sale in the form of an answer (docs/events.md), with the names of the text. Scripts are hex. */
export interface SaleEvent extends Omit<SaleEvidence, keyof StoredNames> {
  readonly type: 'inscription-sold';
  readonly inscriptionId: string;
  readonly txid: string;
  readonly input: number;
  readonly class: string;
  readonly form: string;
  readonly confidence: string;
  readonly wash: boolean;
  readonly makerScript: string;
  /** Script of the taker. `null` if the inscription went into the fee. */
  readonly takerScript: string | null;
}

type SoldWords = [
  inscriptionId: string,
  txid: string,
  input: string,
  price: string,
  grossPayout: string,
  bundle: string,
  payoutOutput: string,
  feeOutput: string,
  sighash: string,
  classOf: string,
  form: string,
  confidence: string,
  wash: string,
  maker: string,
  taker: string,
];
const wordCount = 15;

/** Parses a line of a text of sales. Throws a RangeError if the line is not of this version. */
export function parseSaleLine(line: string): SaleEvent {
  const [type, ...words] = line.split(' ');
  if (type !== 'sold' || words.length !== wordCount) throw new RangeError(`no event of sales: ${line}`);
  const [
    inscriptionId,
    txid,
    input,
    price,
    grossPayout,
    bundle,
    payoutOutput,
    feeOutput,
    sighash,
    classOf,
    form,
    confidence,
    wash,
    maker,
    taker,
  ] = words as SoldWords;
  return {
    type: 'inscription-sold',
    inscriptionId,
    txid,
    input: Number(input),
    price: Number(price),
    grossPayout: Number(grossPayout),
    bundle: Number(bundle),
    payoutOutput: Number(payoutOutput),
    feeOutput: feeOutput === '-' ? null : Number(feeOutput),
    sighash: Number(sighash),
    class: classOf,
    form,
    confidence,
    wash: wash === 'wash',
    makerScript: scriptOf(maker),
    takerScript: taker === '-' ? null : scriptOf(taker),
  };
}

const scriptOf = (word: string): string => (word === emptyScript ? '' : word);
