import assert from 'node:assert/strict';
import type { ClientBase } from 'pg';
import { lostOutpoint, unboundOutpoint } from '#chain/inscriptions/location.queries.ts';
import {
  fingerprintKey,
  inscriptionsOutside,
  type KnownOutput,
  type KnownOutputs,
  knownOutputs,
  type Outpoint,
} from '#chain/outputs/output.queries.ts';
import { runicOutputs } from '#chain/outputs/runic-output.queries.ts';
import { type HeldRunes, type RuneBalance, runesOfOutputs } from '#chain/runes/rune-balances.queries.ts';
import { lostSats, type SatRangesOfOutputs, satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type AnswerBody, idText } from '#http/ord/answers/answers.ts';
import { listAnswer } from '#http/ord/answers/batch.ts';
import { heldRunesParts } from '#http/ord/runes/rune-json.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import type { Transactions } from '#http/ord/transactions/transactions.ts';
import {
  bodyInTurns,
  type JsonPart,
  type JsonParts,
  listParts,
  textOfParts,
} from '#http/server/budgets/json-in-turns.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { inTurnsOf } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';
import { type AskedOutputs, type OutputFacts, OutputSearch, outpointText } from './output-facts.ts';

/** The data that the index has about outputs. */
interface IndexedOutputs {
  readonly tip: Tip | null;
  readonly known: KnownOutputs;
  readonly knowsRunes: boolean;
  readonly runes: HeldRunes;
  readonly sats: SatRangesOfOutputs;
}

/** An output and its contents. A field is null if it is unknown. */
export interface WholeOutput {
  readonly tip: Tip | null;
  readonly facts: OutputFacts;
  readonly runes: readonly RuneBalance[] | null;
  readonly sats: readonly SatRange[] | null;
}

/** A response, and the tip at which it was made. */
interface Answer {
  readonly tip: Tip | null;
  readonly body: AnswerBody;
}

/**
 * Maximum number of characters in one response about many outputs, with their runes and ranges of sats. The response is
 * in memory until it is sent. The maximum is half of the data that a client may leave unread.
 */
const answerCharsMax = 16 * 1024 * 1024;
/** Maximum number of outputs in a piece of a response. They are 100 kB of text. */
const answersAtOnce = 250;

/**
 * Responses about outputs. Outputs with inscriptions or runes come from the index. All other outputs come from the
 * node.
 */
export class Outputs {
  readonly #deps: AppDependencies;
  readonly #search: OutputSearch;

  constructor(deps: AppDependencies, node: NodeCalls | null, transactions: Transactions) {
    this.#deps = deps;
    this.#search = new OutputSearch(deps.logger, node, transactions);
  }

  /** Everything that is known about an output. Throws the errors of `output`. */
  async all(outpoint: Outpoint, asker: Asker): Promise<WholeOutput> {
    const outside = await this.#outside(outpoint, asker);
    if (outside !== null) return outside;
    const { runes, sats, ...indexed } = await this.#known([outpoint], asker);
    const facts = await this.#factsOf(outpoint, indexed, asker);
    return { tip: indexed.tip, facts, runes: runes.of(outpoint), sats: sats.of(outpoint) };
  }

  /** Responds to `/output/<outpoint>`. Throws `not_found`. Throws `no_node` if only a node knows the output. */
  async output(outpoint: Outpoint, asker: Asker): Promise<Answer> {
    const outside = await this.#outside(outpoint, asker);
    if (outside !== null) {
      const { tip, facts, runes, sats } = outside;
      // as in ord, the response for lostOutpoint and unboundOutpoint has no list of sats until they contain something
      const isEmpty = facts.inscriptions.length === 0 && sats?.length === 0;
      const contents = held(runes, isEmpty ? null : sats);
      return { tip, body: await bodyInTurns(this.#parts(outpoint, facts, contents), asker) };
    }
    const { runes, sats, ...indexed } = await this.#known([outpoint], asker);
    const { tip } = indexed;
    const facts = await this.#factsOf(outpoint, indexed, asker);
    const contents = held(runes.of(outpoint), sats.of(outpoint));
    return { tip, body: await bodyInTurns(this.#parts(outpoint, facts, contents), asker) };
  }

  /**
   * Responds to `POST /outputs`. As in ord, the outpoints of lost and unbound inscriptions are refused, because their
   * lists have no maximum size. An outpoint that is named several times is looked up once, and each transaction is read
   * once.
   */
  async outputs(outpoints: readonly Outpoint[], asker: Asker): Promise<Answer> {
    for (const outpoint of outpoints) {
      const text = outpointText(outpoint);
      if (text === lostOutpoint || text === unboundOutpoint)
        throw new AppError('request_invalid', `outpoint ${text} may not be queried in batch`);
    }
    const timesOf = Map.groupBy(outpoints, outpointText);
    const names = [...timesOf.keys()];
    const distinct = [...timesOf.values()].flatMap(([first]) => first ?? []);
    const { runes, sats, ...indexed } = await this.#known(distinct, asker);
    const { tip } = indexed;
    let chars = 0;
    // limit the size, because all responses are in memory until they are sent, and a request may name one outpoint many
    // times
    const count = (name: string, length: number): void => {
      chars += length * (timesOf.get(name)?.length ?? 0);
      if (chars > answerCharsMax)
        throw new AppError('request_invalid', 'the answer would be too large; request fewer outputs');
    };
    // check the size before the node is queried
    const contents: HeldTexts[] = [];
    for (const [place, outpoint] of distinct.entries()) {
      const texts = heldTexts(held(runes.of(outpoint), sats.of(outpoint)));
      count(names[place] ?? '', texts.runes[0].length + texts.satRanges[0].length);
      contents.push(texts);
    }
    chars = 0;
    const answers = new Map<string, string>();
    await this.#search.find({ outpoints: distinct, ...indexed }, asker, (place, facts) => {
      const [name, outpoint] = [names[place], distinct[place]];
      if (name === undefined || outpoint === undefined) return;
      const json = textOfParts(this.#parts(outpoint, facts, contents[place] ?? held(null, null)));
      count(name, json.length);
      answers.set(name, json);
    });
    return { tip, body: listAnswer(outpoints.length, answerParts(outpoints, answers), chars) };
  }

  /** Responds to `/r/utxo/<outpoint>`. Throws `not_found` for an output that a block has spent. */
  async utxo(outpoint: Outpoint, asker: Asker): Promise<Answer> {
    const outside = await this.#outside(outpoint, asker);
    const text = outpointText(outpoint);
    const missing = new AppError('not_found', `output ${text} not found`);
    if (outside !== null) {
      if (outside.facts.inscriptions.length === 0) throw missing;
      const parts = utxoParts(outside.facts, held(outside.runes, outside.sats));
      return { tip: outside.tip, body: await bodyInTurns(parts, asker) };
    }
    const { runes, sats, ...indexed } = await this.#known([outpoint], asker);
    const { tip, known } = indexed;
    const contents = held(runes.of(outpoint), sats.of(outpoint));
    const unspent = known.byPlace.get(0);
    if (unspent !== undefined && unspent.value !== null) {
      return { tip, body: await bodyInTurns(utxoParts(unspent, contents), asker) };
    }
    const facts = await this.#factsOf(outpoint, indexed, asker);
    if (!facts.indexed) throw missing;
    return { tip, body: await bodyInTurns(utxoParts(facts, contents), asker) };
  }

  /**
   * The sats of an output. `null` if a block has spent the output, or if there is no index of sats. Throws `not_found`
   * and `no_node`, like `output`.
   */
  async satRanges(outpoint: Outpoint, asker: Asker): Promise<readonly SatRange[] | null> {
    const outside = await this.#outside(outpoint, asker);
    if (outside !== null) return outside.sats;
    const { sats, ...known } = await this.#known([outpoint], asker);
    const ranges = sats.of(outpoint);
    if (ranges !== null && ranges.length > 0) return ranges;
    const { indexed } = await this.#factsOf(outpoint, known, asker);
    return indexed ? ranges : null;
  }

  /** The address of an output. `null` if its script has no address. Throws `not_found` and `no_node`. */
  async addressOf(outpoint: Outpoint, asker: Asker): Promise<string | null> {
    return scriptToAddress(await this.#search.scriptOf(outpoint, asker), this.#deps.network);
  }

  async #factsOf(
    outpoint: Outpoint,
    indexed: Omit<AskedOutputs, 'outpoints'>,
    asker: Asker,
  ): Promise<OutputFacts> {
    let found: OutputFacts | null = null;
    await this.#search.find({ outpoints: [outpoint], ...indexed }, asker, (_place, facts) => {
      found = facts;
    });
    assert(found !== null, 'an output has facts where none is missing');
    return found;
  }

  /** The responses for the lost and the unbound outpoint, which are not real outputs. `null` for any other outpoint. */
  async #outside(outpoint: Outpoint, { client: asking, signal }: Asker): Promise<WholeOutput | null> {
    const text = outpointText(outpoint);
    const place = text === lostOutpoint ? 'lost' : text === unboundOutpoint ? 'unbound' : null;
    if (place === null) return null;
    const read = async ({ client, tip }: Snapshot): Promise<WholeOutput> => {
      const inscriptions = await inscriptionsOutside(client, place);
      const nothing = { confirmations: 0, script: new Uint8Array(0), spent: false };
      // these outpoints never contain runes
      const runes = await runesOfOutputs(client, []);
      const lost = await lostSats(client);
      const sats = place === 'lost' || lost === null ? lost : [];
      const value = asSats(satsIn(sats ?? []));
      const facts = { ...nothing, value, indexed: true, inscriptions };
      return { tip, facts, runes: runes.of(outpoint), sats };
    };
    return inTurnsOf(asking, () => withSnapshot(this.#deps.pool, read, signal));
  }

  async #known(outpoints: readonly Outpoint[], { client: asking, signal }: Asker): Promise<IndexedOutputs> {
    const read = async ({ client, tip }: Snapshot): Promise<IndexedOutputs> => {
      const key = await fingerprintKey(client);
      const runes = await runesOfOutputs(client, outpoints);
      const sats = await satRangesOf(client, outpoints);
      const [first] = outpoints;
      const knowsRunes = first !== undefined && runes.of(first) !== null;
      const nothing = { byPlace: new Map<number, KnownOutput>(), hasAll: false, hasAllWithValue: false };
      if (key === null) return { tip, known: nothing, knowsRunes, runes, sats };
      const known = await knownOutputs(client, outpoints, fingerprintsOf(key, outpoints));
      return { tip, known: await withRunic(client, outpoints, known, runes), knowsRunes, runes, sats };
    };
    return inTurnsOf(asking, () => withSnapshot(this.#deps.pool, read, signal));
  }

  #parts(
    outpoint: Outpoint,
    { value, script, ...facts }: OutputFacts,
    contents: HeldParts,
  ): Generator<JsonPart> {
    const address = script === null ? null : scriptToAddress(script, this.#deps.network);
    return outputParts({ outpoint, value, script, address, ...facts }, contents);
  }
}

/**
 * Adds unspent outputs that are known only from balances of runes. Also adds complete scripts that only these balances
 * contain.
 */
async function withRunic(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  known: KnownOutputs,
  runes: HeldRunes,
): Promise<KnownOutputs> {
  const places = [...outpoints.entries()].flatMap(([place, outpoint]) =>
    known.byPlace.get(place)?.script == null && (runes.of(outpoint)?.length ?? 0) > 0 ? [place] : [],
  );
  if (places.length === 0) return known;
  const found = await runicOutputs(
    client,
    places.flatMap((place) => outpoints[place] ?? []),
  );
  const byPlace = new Map(known.byPlace);
  for (const [index, { script, transaction }] of found) {
    const place = places[index];
    if (place === undefined) continue;
    const { height } = transaction;
    const other = byPlace.get(place) ?? { height, value: null, script: null, inscriptions: [] };
    byPlace.set(place, { ...other, script: other.script ?? script, transaction });
  }
  return { ...known, byPlace };
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

/**
 * The contents of an output, as JSON in parts. JSON.stringify is not used, because it cannot write the integers of
 * runes.
 */
interface HeldParts {
  readonly runes: JsonParts;
  readonly satRanges: JsonParts;
}

/** Contents whose parts are single texts, so that they can be read more than once. */
interface HeldTexts extends HeldParts {
  readonly runes: readonly [string];
  readonly satRanges: readonly [string];
}

/** The contents of an output. They can be read only once, because each part is made while it is read. */
export function held(runes: readonly RuneBalance[] | null, satRanges: readonly SatRange[] | null): HeldParts {
  return { runes: heldRunesParts(runes), satRanges: rangesParts(satRanges) };
}

function heldTexts({ runes, satRanges }: HeldParts): HeldTexts {
  return { runes: [textOfParts(runes)], satRanges: [textOfParts(satRanges)] };
}

function* idsParts(ids: readonly InscriptionId[]): Generator<JsonPart> {
  yield '[';
  yield* listParts(ids, (part) => part.map((id) => `"${idText(id)}"`).join(','));
  yield ']';
}

/** Ranges of sats in ord's form. */
function* rangesParts(ranges: readonly SatRange[] | null): Generator<JsonPart> {
  if (ranges === null) {
    yield 'null';
    return;
  }
  yield '[';
  yield* listParts(ranges, (part) => part.map(({ start, end }) => `[${start},${end}]`).join(','));
  yield ']';
}

/** The JSON of ord's `/output`, in parts. */
export function* outputParts(
  { address, confirmations, indexed, inscriptions, outpoint, script, spent, value }: ShownOutput,
  { runes, satRanges }: HeldParts,
): Generator<JsonPart> {
  const before = JSON.stringify({ address, confirmations, indexed });
  yield `${before.slice(0, -1)},"inscriptions":`;
  yield* idsParts(inscriptions);
  yield `,"outpoint":"${outpointText(outpoint)}","runes":`;
  yield* runes;
  yield ',"sat_ranges":';
  // only unspent outputs have ranges in the response
  if (indexed) yield* satRanges;
  else yield 'null';
  const after = JSON.stringify({
    script_pubkey: script === null ? null : Buffer.from(script).toString('hex'),
    spent,
    transaction: displayHash(outpoint.txid),
    value,
  });
  yield `,${after.slice(1)}`;
}

function* utxoParts(
  { inscriptions, value }: Pick<OutputFacts, 'inscriptions' | 'value'>,
  { runes, satRanges }: HeldParts,
): Generator<JsonPart> {
  yield '{"inscriptions":';
  yield* idsParts(inscriptions);
  yield ',"runes":';
  yield* runes;
  yield ',"sat_ranges":';
  yield* satRanges;
  yield `,"value":${value}}`;
}
