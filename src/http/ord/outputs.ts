import assert from 'node:assert/strict';
import { lostOutpoint, unboundOutpoint } from '#chain/inscriptions/location.queries.ts';
import {
  fingerprintKey,
  inscriptionsOutside,
  type KnownOutput,
  type KnownOutputs,
  knownOutputs,
  type Outpoint,
} from '#chain/outputs/output.queries.ts';
import { type HeldRunes, type RuneBalance, runesOfOutputs } from '#chain/runes/rune-balances.queries.ts';
import {
  lostSats,
  rangesJson,
  type SatRangesOfOutputs,
  satRangesOf,
} from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { AppDependencies } from '#http/server/app-dependencies.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import type { SatRange } from '#kernel/satributes/satribute.ts';
import { type AnswerBody, idText } from './answers.ts';
import { listAnswer } from './batch.ts';
import type { NodeCalls } from './node-calls.ts';
import { type OutputFacts, OutputSearch, outpointText } from './output-facts.ts';
import { heldRunesJson } from './runes/rune-json.ts';
import type { Transactions } from './transactions/transactions.ts';

/** What the index knows of outputs. */
interface IndexedOutputs {
  readonly tip: Tip | null;
  readonly known: KnownOutputs;
  readonly runes: HeldRunes;
  readonly sats: SatRangesOfOutputs;
}

/** What lies at the lost or the unbound outpoint. */
interface OutsideOutputs {
  readonly tip: Tip | null;
  readonly facts: OutputFacts;
  readonly runes: readonly RuneBalance[] | null;
  readonly sats: readonly SatRange[] | null;
}

/** An answer, and the tip that it describes. */
interface Answer {
  readonly tip: Tip | null;
  readonly json: string;
}

/** The most lost or unbound inscriptions in one answer, 14 MB. ord lists them all. */
const outsideMax = 200_000;
/**
 * One answer about many outputs, with their runes and ranges of sats, which is held in memory until it is out: half of
 * what a client may leave unread.
 */
const answerCharsMax = 16 * 1024 * 1024;
/** Outputs in a piece of an answer: 100 kB. */
const answersAtOnce = 250;

/** Answers about outputs: those with inscriptions come from the index, the others from the node. */
export class Outputs {
  readonly #deps: AppDependencies;
  readonly #search: OutputSearch;

  constructor(deps: AppDependencies, node: NodeCalls | null, transactions: Transactions) {
    this.#deps = deps;
    this.#search = new OutputSearch(deps.logger, node, transactions);
  }

  /** `/output/<outpoint>`. Throws `not_found`, and `no_node` where only a node has the answer. */
  async output(outpoint: Outpoint, asker: Asker): Promise<Answer> {
    const outside = await this.#outside(outpoint, asker.signal);
    if (outside !== null)
      return {
        tip: outside.tip,
        json: this.#json(outpoint, outside.facts, held(outside.runes, outside.sats)),
      };
    const { tip, known, runes, sats } = await this.#known([outpoint], asker.signal);
    const facts = await this.#factsOf(outpoint, { tip, known }, asker);
    return { tip, json: this.#json(outpoint, facts, held(runes.of(outpoint), sats.of(outpoint))) };
  }

  /**
   * `POST /outputs`. As in ord, the outpoints of lost and unbound inscriptions are refused: both lists are unbounded.
   * An outpoint that is named often is looked up once, and a transaction is read once.
   */
  async outputs(
    outpoints: readonly Outpoint[],
    asker: Asker,
  ): Promise<{ readonly tip: Tip | null; readonly body: AnswerBody }> {
    for (const outpoint of outpoints) {
      const text = outpointText(outpoint);
      if (text === lostOutpoint || text === unboundOutpoint)
        throw new AppError('request_invalid', `outpoint ${text} may not be queried in batch`);
    }
    const timesOf = Map.groupBy(outpoints, outpointText);
    const names = [...timesOf.keys()];
    const distinct = [...timesOf.values()].flatMap(([first]) => first ?? []);
    const { tip, known, runes, sats } = await this.#known(distinct, asker.signal);
    let chars = 0;
    // all answers are held in memory until they are out, and one may be asked for often
    const count = (name: string, length: number): void => {
      chars += length * (timesOf.get(name)?.length ?? 0);
      if (chars > answerCharsMax)
        throw new AppError('request_invalid', 'the answer would be too large: ask for fewer outputs');
    };
    // before the node is asked
    const contents = distinct.map((outpoint) => held(runes.of(outpoint), sats.of(outpoint)));
    for (const [place, each] of contents.entries())
      count(names[place] ?? '', each.runes.length + each.satRanges.length);
    chars = 0;
    const answers = new Map<string, string>();
    await this.#search.find({ outpoints: distinct, tip, known }, asker, (place, facts) => {
      const [name, outpoint] = [names[place], distinct[place]];
      if (name === undefined || outpoint === undefined) return;
      const json = this.#json(outpoint, facts, contents[place] ?? held(null, null));
      count(name, json.length);
      answers.set(name, json);
    });
    return { tip, body: listAnswer(outpoints.length, answerParts(outpoints, answers), chars) };
  }

  /** `/r/utxo/<outpoint>`: only outputs that are unspent in the chain. */
  async utxo(outpoint: Outpoint, asker: Asker): Promise<Answer> {
    const outside = await this.#outside(outpoint, asker.signal);
    const text = outpointText(outpoint);
    const missing = new AppError('not_found', `output ${text} not found`);
    if (outside !== null) {
      if (outside.facts.inscriptions.length === 0) throw missing;
      return { tip: outside.tip, json: utxoJson(outside.facts, held(outside.runes, outside.sats)) };
    }
    const { tip, known, runes, sats } = await this.#known([outpoint], asker.signal);
    const contents = held(runes.of(outpoint), sats.of(outpoint));
    const unspent = known.byPlace.get(0);
    if (unspent !== undefined)
      return {
        tip,
        json: utxoJson({ inscriptions: unspent.inscriptions.map(idText), value: unspent.value }, contents),
      };
    const facts = await this.#factsOf(outpoint, { tip, known }, asker);
    if (!facts.indexed) throw missing;
    return { tip, json: utxoJson(facts, contents) };
  }

  /**
   * The sats of an output, which are null where it is not unspent in the chain, or where there is no index of sats.
   * Throws `not_found` and `no_node`, as `output`.
   */
  async satRanges(outpoint: Outpoint, asker: Asker): Promise<readonly SatRange[] | null> {
    const outside = await this.#outside(outpoint, asker.signal);
    if (outside !== null) return outside.sats;
    const { tip, known, sats } = await this.#known([outpoint], asker.signal);
    const ranges = sats.of(outpoint);
    if (ranges !== null && ranges.length > 0) return ranges;
    const { indexed } = await this.#factsOf(outpoint, { tip, known }, asker);
    return indexed ? ranges : null;
  }

  /** The address of an output; null: it has none. Throws `not_found` and `no_node`. */
  async addressOf(outpoint: Outpoint, asker: Asker): Promise<string | null> {
    return scriptToAddress(await this.#search.scriptOf(outpoint, asker), this.#deps.network);
  }

  async #factsOf(
    outpoint: Outpoint,
    indexed: Pick<IndexedOutputs, 'tip' | 'known'>,
    asker: Asker,
  ): Promise<OutputFacts> {
    let found: OutputFacts | null = null;
    await this.#search.find({ outpoints: [outpoint], ...indexed }, asker, (_place, facts) => {
      found = facts;
    });
    assert(found !== null, 'an output has facts where none is missing');
    return found;
  }

  /** The answers for the lost and the unbound outpoint, which are not real outputs; null for any other. */
  async #outside(outpoint: Outpoint, signal: AbortSignal): Promise<OutsideOutputs | null> {
    const text = outpointText(outpoint);
    const place = text === lostOutpoint ? 'lost' : text === unboundOutpoint ? 'unbound' : null;
    if (place === null) return null;
    return withSnapshot(
      this.#deps.pool,
      async ({ client, tip }) => {
        const found = await inscriptionsOutside(client, place, outsideMax + 1);
        if (found.length > outsideMax)
          throw new AppError('address_too_large', `more than ${outsideMax} inscriptions are ${place}`);
        const inscriptions = found.map(idText);
        const nothing = { confirmations: 0, script: new Uint8Array(0), spent: false };
        // runes are never here
        const runes = await runesOfOutputs(client, []);
        const lost = await lostSats(client);
        const sats = place === 'lost' || lost === null ? lost : [];
        const value = asSats((sats ?? []).reduce((sum, { start, end }) => sum + end - start, 0));
        const facts = { ...nothing, value, indexed: true, inscriptions };
        return { tip, facts, runes: runes.of(outpoint), sats };
      },
      signal,
    );
  }

  async #known(outpoints: readonly Outpoint[], signal: AbortSignal): Promise<IndexedOutputs> {
    return withSnapshot(
      this.#deps.pool,
      async ({ client, tip }) => {
        const key = await fingerprintKey(client);
        const runes = await runesOfOutputs(client, outpoints);
        const sats = await satRangesOf(client, outpoints);
        const nothing = { byPlace: new Map<number, KnownOutput>(), hasAll: false, hasAllWithValue: false };
        if (key === null) return { tip, known: nothing, runes, sats };
        const known = await knownOutputs(client, outpoints, fingerprintsOf(key, outpoints));
        return { tip, known, runes, sats };
      },
      signal,
    );
  }

  #json(outpoint: Outpoint, { value, script, ...facts }: OutputFacts, contents: HeldJson): string {
    const address = scriptToAddress(script, this.#deps.network);
    return outputJson({ outpoint, value, script, address, ...facts }, contents);
  }
}

function* answerParts(
  outpoints: readonly Outpoint[],
  answers: ReadonlyMap<string, string>,
): Generator<string[]> {
  for (let from = 0; from < outpoints.length; from += answersAtOnce) {
    const part = outpoints.slice(from, from + answersAtOnce);
    yield part.map((outpoint) => answers.get(outpointText(outpoint)) ?? '');
  }
}

/** The fields of ord's `/output`. */
interface ShownOutput extends OutputFacts {
  readonly outpoint: Outpoint;
  readonly address: string | null;
}

/** What an output holds, as JSON: JSON.stringify cannot write the integers of runes. */
export interface HeldJson {
  readonly runes: string;
  readonly satRanges: string;
}

export function held(runes: readonly RuneBalance[] | null, satRanges: readonly SatRange[] | null): HeldJson {
  return { runes: heldRunesJson(runes), satRanges: rangesJson(satRanges) };
}

export function outputJson(output: ShownOutput, { runes, satRanges }: HeldJson): string {
  const { address, confirmations, indexed, inscriptions, outpoint, script, spent, value } = output;
  const before = JSON.stringify({
    address,
    confirmations,
    indexed,
    inscriptions,
    outpoint: outpointText(outpoint),
  });
  // of an output that is not unspent nothing is shown
  const shownRanges = indexed ? satRanges : 'null';
  const after = JSON.stringify({
    script_pubkey: Buffer.from(script).toString('hex'),
    spent,
    transaction: displayHash(outpoint.txid),
    value,
  });
  return `${before.slice(0, -1)},"runes":${runes},"sat_ranges":${shownRanges},${after.slice(1)}`;
}

function utxoJson(
  { inscriptions, value }: Pick<OutputFacts, 'inscriptions' | 'value'>,
  { runes, satRanges }: HeldJson,
): string {
  return `{"inscriptions":${JSON.stringify(inscriptions)},"runes":${runes},"sat_ranges":${satRanges},"value":${value}}`;
}
