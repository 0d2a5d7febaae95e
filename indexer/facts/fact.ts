/**
 * Optional facts of a block: groups of columns beside its BlockColumns. A derived table names the groups that it needs;
 * the indexer asks the workers for the union of what its tables need. A group that no table needs is not read, not
 * encoded and not transferred.
 *
 * - `outputs`: value, script and txid of each spendable output, and the spent outpoints (./output-columns.ts).
 * - `coin-flow`: values of all outputs, and the output that each input spends (./flow-columns.ts).
 * - `spent-scripts`: script and value of each spent output, where the source knows them (./spent-scripts.ts).
 * - `runestone-candidates`: outputs whose script begins with OP_RETURN OP_13 (./runestone-candidates.ts).
 * - `signatures`: the signatures of the inputs that the caller names, such as those that spend a tracked output
 *   (./signatures.ts).
 */
export const factNames = [
  'outputs',
  'coin-flow',
  'spent-scripts',
  'runestone-candidates',
  'signatures',
] as const;

export type Fact = (typeof factNames)[number];

export type FactSet = ReadonlySet<Fact>;

export const noFacts: FactSet = new Set();
