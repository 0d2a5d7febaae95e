/** Factor of random cases and samples, compared with `npm test`. `npm run test:long` sets it to `longFactor`. */
const factor = Number(process.env['TEST_RUNS'] ?? 1);
if (!(factor >= 1)) throw new Error(`TEST_RUNS must be a number from 1 on, not ${process.env['TEST_RUNS']}`);

/** TEST_RUNS of scripts/test-long.sh. */
const longFactor = 10;

/** Share of the cases that a test names: `npm test` has no time for all of them (ADR 59). */
const share = 0.5;

/** Cases of a property: half of the usual ones, times TEST_RUNS. */
export const propertyRuns = (usual: number): number => Math.ceil(usual * share * factor);

/** The same for a property whose cases take seconds: a long run tries as many as the time allows. */
export const propertyBounds = (usual: number): { numRuns: number; interruptAfterTimeLimit: number } => ({
  numRuns: propertyRuns(usual),
  // before the test's own timeout
  interruptAfterTimeLimit: 150_000,
});

/** Cases of a property whose long run has a number of its own, which the documents give: it is not cut short. */
export const namedRuns = (usual: number, long: number): number =>
  factor >= longFactor ? Math.max(long, propertyRuns(usual)) : propertyRuns(usual);

/** The step by which a long list is sampled: `usual`, and 1 (all of it) in a long run. */
export const sampleStep = (usual: number): number => Math.max(1, Math.floor(usual / factor));
