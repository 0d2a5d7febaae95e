/** Cases of a property: `usual`, or what PARSE_FUZZ_RUNS says where that is more. */
export const fuzzRuns = (usual: number): number =>
  Math.max(usual, Number(process.env['PARSE_FUZZ_RUNS'] ?? 0));
