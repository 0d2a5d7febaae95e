import type { NextMove } from '#chain/inscriptions/transaction-inscriptions.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { PendingTransferRow } from '#chain/pending/pending.queries.ts';
import type { RuneChange } from '#chain/runes/transaction-runes.queries.ts';
import { outpointText } from '#http/ord/outputs/output-facts.ts';
import type { RawOutput } from '#indexer/transaction/raw-transaction.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { InputLine } from '#web/pages/transaction.page.ts';
import type { HoldingsView, OutputLine, SpentState } from '#web/parts/chain-outputs.ts';
import type { HeldRune } from '#web/parts/held-runes.ts';
import { heldRune, holdingsOf, satributesIn } from './holdings.ts';
import type { ReadTransaction } from './read-transaction.ts';
import { scriptWords } from './script-words.ts';
import type { TransactionFacts } from './transaction-facts.ts';
import type { NodeFacts } from './transaction-node.ts';

/** Data for the rows of a transaction's page. */
export interface RowParts {
  readonly read: ReadTransaction;
  readonly facts: TransactionFacts;
  readonly told: NodeFacts;
  readonly network: NetworkParameters;
  readonly book: SatributeBook;
  /** The client whose share of the event loop the work uses. */
  readonly client: string;
}

/** One page of the lists of inputs and outputs. `from` is the index of the first row. */
interface Page {
  readonly from: number;
}

const opReturn = 0x6a;

/** An inscription in a row. */
type NamedHolding = HoldingsView['inscriptions'][number];

const named = ({ names }: TransactionFacts, key: InscriptionKey): NamedHolding[] => {
  const name = names.get(key);
  return name === undefined ? [] : [{ id: formatInscriptionId(name.txid, name.index), number: name.number }];
};

/**
 * Address and script type of an output. An empty script means that the source, a folder of blocks, does not have the
 * script.
 */
function ownerOf(
  output: RawOutput | null,
  network: NetworkParameters,
): { address: string | null; script: string | null } {
  if (output === null || output.script.length === 0) return { address: null, script: null };
  const { script } = output;
  return { address: scriptToAddress(script, network), script: scriptWords(script) };
}

export function inputLines(parts: RowParts, inputs: readonly Outpoint[], { from }: Page): InputLine[] {
  const { read, told, network } = parts;
  return inputs.map((outpoint, place) => {
    const output = read.spent?.[from + place] ?? told.spent?.[place] ?? null;
    return {
      outpoint: isCoinbaseInput(outpoint) ? null : outpointText(outpoint),
      value: output?.value ?? null,
      ...ownerOf(output, network),
      holds: holdingsOf(
        inscriptionsFrom(parts, outpointText(outpoint)),
        runesFrom(parts, outpointText(outpoint)),
        [],
        unknownHoldings(parts),
      ),
    };
  });
}

/** Inscriptions that came from an output. */
function inscriptionsFrom({ facts }: RowParts, text: string): NamedHolding[] {
  const moved = facts.moved?.filter((each) => each.from !== null && outpointText(each.from) === text);
  const transfers = facts.pending?.transfers.filter(
    (each) => outpointText({ txid: each.from_txid, vout: each.from_vout }) === text,
  );
  return [...(moved ?? []).flatMap(({ key }) => named(facts, key)), ...(transfers ?? []).map(namedTransfer)];
}

const runesFrom = ({ facts: { runes } }: RowParts, text: string): HeldRune[] =>
  (runes ?? [])
    .filter(({ kind, output }) => kind === 'sent' && output !== null && outpointText(output) === text)
    .map(heldRune);

const namedTransfer = (row: PendingTransferRow): NamedHolding => ({
  id: formatInscriptionId(row.inscription_txid, row.inscription_index),
  number: null,
});

/** The reason why rows may lack inscriptions or runes, in words. `null` if nothing is missing. */
function unknownHoldings({ facts: { moved, runes, pending } }: RowParts): string | null {
  if (pending !== null) return null;
  if (moved === null) return 'its inscriptions and runes are not indexed here';
  return runes === null ? 'its runes are not known here' : null;
}

/** Whether an input is the input of a coinbase. Such an input names no output (also before BIP 30). */
export const isCoinbaseInput = ({ txid, vout }: Outpoint): boolean =>
  vout === 0xffff_ffff && txid.every((byte) => byte === 0);

export async function outputLines(
  parts: RowParts,
  outputs: readonly RawOutput[],
  { from }: Page,
): Promise<OutputLine[]> {
  const { read, facts, network, book, client } = parts;
  const lines: OutputLine[] = [];
  for (const [place, output] of outputs.entries()) {
    const vout = from + place;
    const outpoint = { txid: read.txid, vout };
    const { address, script } = ownerOf(output, network);
    const satributes = await satributesIn(facts.sats?.(outpoint) ?? null, book, client);
    lines.push({
      outpoint: outpointText(outpoint),
      value: output.value,
      address,
      script: script ?? 'an empty script',
      spent: spentState(parts, output, place, vout),
      holds: holdingsOf(
        inscriptionsAt(parts, vout),
        runesAt(parts, vout),
        satributes,
        unknownHoldings(parts),
      ),
    });
  }
  return lines;
}

/** Inscriptions that an output received. */
function inscriptionsAt({ facts }: RowParts, vout: number): NamedHolding[] {
  const { revealed, moved, pending } = facts;
  const keys = [...revealed, ...(moved ?? [])].filter((each) => isAt(each, vout)).map(({ key }) => key);
  const own = pending?.inscriptions.filter((each) => each.vout === vout) ?? [];
  const transfers = pending?.transfers.filter((each) => each.place === 0 && each.vout === vout) ?? [];
  return [
    ...keys.flatMap((key) => named(facts, key)),
    ...own.map(({ id }) => ({ id: formatInscriptionId(id.txid, id.index), number: null })),
    ...transfers.map(namedTransfer),
  ];
}

/** Whether an inscription moved to the output `vout`. */
export const isAt = (each: { readonly place: string; readonly vout: number | null }, vout: number): boolean =>
  each.place === 'output' && each.vout === vout;

/** Whether a change of runes added runes to the output `vout`. */
export const isPaidTo = ({ kind, output }: RuneChange, vout: number): boolean =>
  kind === 'received' && output?.vout === vout;

const runesAt = ({ facts: { runes } }: RowParts, vout: number): HeldRune[] =>
  (runes ?? []).filter((each) => isPaidTo(each, vout)).map(heldRune);

/** Whether an output is spent, according to the first source that knows the answer. */
function spentState(parts: RowParts, output: RawOutput, place: number, vout: number): SpentState {
  const { facts, told } = parts;
  if (output.script[0] === opReturn) return { kind: 'unspendable' };
  const spent = spentInChain(facts, vout);
  if (spent !== null) return spent;
  const spender = told.spenders?.[place] ?? null;
  if (spender !== null) return { kind: 'pending', txid: spender };
  return facts.known.byPlace.has(place) || told.unspent.get(place) === true
    ? { kind: 'unspent' }
    : absentState(parts, output, place);
}

/** The state of an output that neither the index nor the node lists as unspent. */
function absentState({ facts, told }: RowParts, { value }: RawOutput, place: number): SpentState {
  // if all unspent outputs of the chain are known, this output is spent, because it is not among them
  const { hasAll, hasAllWithValue } = facts.known;
  const isKnownSpent = hasAll || (hasAllWithValue && value > 0) || told.unspent.get(place) === false;
  if (facts.pending === null && told.entry === null)
    return isKnownSpent ? { kind: 'spent', txid: null, height: null } : { kind: 'unknown' };
  // the transaction is in the mempool, and the node names no transaction that spends the output
  return told.spenders === null ? { kind: 'unknown' } : { kind: 'unspent' };
}

/**
 * The spend of an output, if moves of inscriptions or runes, or the index of addresses, show a spend. Otherwise null.
 */
function spentInChain(facts: TransactionFacts, vout: number): SpentState | null {
  const spend = spendOfInscription(facts, vout) ?? spendOfRune(facts, vout);
  const height = spend?.height ?? facts.spends?.get(vout) ?? null;
  if (height === null) return null;
  const txid = spend?.txid ?? null;
  return { kind: 'spent', height, txid: txid === null ? null : displayHash(txid) };
}

const spendOfInscription = ({ revealed, moved }: TransactionFacts, vout: number): NextMove | null =>
  [...revealed, ...(moved ?? [])].find((each) => isAt(each, vout) && each.next !== null)?.next ?? null;

const spendOfRune = ({ runes }: TransactionFacts, vout: number): RuneChange['spent'] =>
  runes?.find((each) => isPaidTo(each, vout) && each.spent !== null)?.spent ?? null;

/** Whether the index knows if an output is unspent. */
export const isTold = ({ known, spends }: TransactionFacts, place: number, vout: number): boolean =>
  known.byPlace.has(place) || known.hasAll || spends?.get(vout) != null;
