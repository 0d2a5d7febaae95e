import { type Static, Type } from 'typebox';
import { fingerprintKey, knownOutputs, type Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { idText } from '#http/ord/answers/answers.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { WorkInTurns } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { scannerSpelling } from '#kernel/satributes/definitions.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SpecialRange } from '#kernel/satributes/special-ranges.ts';
import type { SatTracer, TracedSats } from '#sat-ranges/sat-tracer.ts';
import { traceOutputs } from '#sat-ranges/trace-outputs.ts';
import { rangesATurn, rarestIn, specialOf } from './output-sats.ts';
import { satributesInForce } from './satributes-in-force.ts';

/** Maximum number of ranges, and of special ranges, in one answer. They take 8 MB. */
const rangesMax = 50_000;

const integer = Type.Integer();
const text = Type.String();

/** A special range in the public interface's form. */
export const specialRangeSchema = Type.Object({
  start: integer,
  output: text,
  size: integer,
  offset: integer,
  satributes: Type.Array(text),
});

/** The public scanner's answer, with `unknown` as an additional field. */
export const scanAnswer = Type.Object({
  result: Type.Object({
    inscriptions: Type.Array(Type.Object({ output: text, inscriptions: Type.Array(text) })),
    ranges: Type.Array(
      Type.Object({
        output: text,
        start: integer,
        end: Type.Integer({ description: 'the first sat after the range' }),
        size: integer,
        offset: integer,
        rarity: Type.String({ description: 'rarity of its rarest sat' }),
      }),
    ),
    specialRanges: Type.Array(specialRangeSchema),
    unknown: Type.Array(Type.Object({ output: text, reason: text }), {
      description: 'outputs whose sats are not all known or listed: the missing ones may be special',
    }),
  }),
});
type Scan = Static<typeof scanAnswer>['result'];

const outpointText = ({ txid, vout }: Outpoint): string => `${displayHash(txid)}:${vout}`;

/**
 * The sats of some outputs, in the order of the outputs. All outputs share the time limit of one trace. If the trace
 * does not reach an output in time, the sats of this output are unknown.
 *
 * @param isGone decides about an output that is not unspent according to the node
 */
export async function scanOutputs(
  deps: AppDependencies,
  tracer: SatTracer,
  outpoints: readonly Outpoint[],
  asker: Asker,
  isGone: (output: string) => Error | string,
): Promise<Scan> {
  const held = await heldBy(deps, outpoints, asker);
  const shown = outpoints.map(({ txid, vout }) => ({ txid: displayHash(txid), vout }));
  const found = await traceOutputs(tracer, shown, asker);
  return scanOf({ outpoints, held, found }, satributesInForce(deps), asker.client, isGone);
}

/** Outputs, and the known facts of each output by its index. */
interface Known {
  readonly outpoints: readonly Outpoint[];
  /** Ids of the inscriptions in each output. */
  readonly held: ReadonlyMap<number, string[]>;
  readonly found: Awaited<ReturnType<typeof traceOutputs>>;
}

/** The answer about outputs. The work takes turns with the work of other clients. */
export async function scanOf(
  { outpoints, held, found }: Known,
  book: SatributeBook,
  client: string,
  isGone: (output: string) => Error | string,
): Promise<Scan> {
  const work = new WorkInTurns(client, rangesATurn);
  const scan: Scan = { inscriptions: [], ranges: [], specialRanges: [], unknown: [] };
  for (const [place, outpoint] of outpoints.entries()) {
    const output = outpointText(outpoint);
    const inscriptions = held.get(place) ?? [];
    if (inscriptions.length > 0) scan.inscriptions.push({ output, inscriptions });
    const sats = found[place] ?? null;
    if (sats === null) {
      const gone = isGone(output);
      if (typeof gone !== 'string') throw gone;
      scan.unknown.push({ output, reason: gone });
    } else if (sats.state === 'unknown') scan.unknown.push({ output, reason: sats.reason });
    else await addKnown(scan, output, sats, book, work);
    await work.did(1);
  }
  return scan;
}

async function addKnown(
  scan: Scan,
  output: string,
  { ranges }: Extract<TracedSats, { state: 'known' }>,
  book: SatributeBook,
  work: WorkInTurns,
): Promise<void> {
  const left = rangesMax - scan.ranges.length - scan.specialRanges.length - ranges.length;
  if (left < 0) {
    scan.unknown.push({ output, reason: 'the answer would be too large; request fewer outputs' });
    return;
  }
  const special = await specialOf(ranges, book, work, left);
  // without this note a client would believe that all sats outside the incomplete list are common
  if (!special.isComplete)
    scan.unknown.push({
      output,
      reason: 'not all of its special ranges are listed, but /outputs/<outpoint>/sats counts all of them',
    });
  let offset = 0;
  for (const { start, end } of ranges) {
    const size = end - start;
    scan.ranges.push({ output, start, end, size, offset, rarity: rarestIn({ start, end }) });
    offset += size;
  }
  for (const range of special.ranges) scan.specialRanges.push(specialRangeJson(output, range));
}

/** A special range of an output, with satributes in the public scanner's spelling. */
export function specialRangeJson(
  output: string,
  { start, end, offset, satributes }: SpecialRange,
): Static<typeof specialRangeSchema> {
  const names = satributes.map(scannerSpelling);
  return { start, output, size: end - start, offset, satributes: names };
}

/** The inscriptions in each output, by the output's index in the list. */
async function heldBy(
  { pool }: AppDependencies,
  outpoints: readonly Outpoint[],
  { signal }: Asker,
): Promise<ReadonlyMap<number, string[]>> {
  return withSnapshot(
    pool,
    async ({ client }) => {
      const key = await fingerprintKey(client);
      if (key === null) return new Map();
      const { byPlace } = await knownOutputs(client, outpoints, fingerprintsOf(key, outpoints));
      return new Map([...byPlace].map(([place, { inscriptions }]) => [place, inscriptions.map(idText)]));
    },
    signal,
  );
}

/** Checks that no output is named twice. Throws `request_invalid`. */
export function refuseTwins(outpoints: readonly Outpoint[], name: string): void {
  const seen = new Set<string>();
  for (const outpoint of outpoints) {
    const output = outpointText(outpoint);
    if (seen.has(output)) throw new AppError('request_invalid', `${name} names ${output} twice`);
    seen.add(output);
  }
}
