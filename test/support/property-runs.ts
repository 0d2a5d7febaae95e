/** Factor for the number of random cases and samples; 1 for `npm test`. `npm run test:long` sets it to `longFactor`. */
const factor = Number(process.env['TEST_RUNS'] ?? 1);
if (!(factor >= 1)) throw new Error(`TEST_RUNS must be a number from 1 on, not ${process.env['TEST_RUNS']}`);

/** The value of TEST_RUNS in scripts/test-long.sh. */
const longFactor = 10;

/** Share of a test's cases that run. `npm test` has no time for all cases (ADR 59). */
const share = 0.5;

/** Number of cases of a property: half of the usual number, times TEST_RUNS. */
export const propertyRuns = (usual: number): number => Math.ceil(usual * share * factor);

/** Like `propertyRuns`, for a property whose cases take seconds. A long run tries as many as the time allows. */
export const propertyBounds = (usual: number): { numRuns: number; interruptAfterTimeLimit: number } => ({
  numRuns: propertyRuns(usual),
  // ends the property before the test's own timeout
  interruptAfterTimeLimit: 150_000,
});

/**
 * Number of cases of a property whose long run has its own number, which the documents name. Such a run is not cut
 * short.
 */
export const namedRuns = (usual: number, long: number): number =>
  factor >= longFactor ? Math.max(long, propertyRuns(usual)) : propertyRuns(usual);

/** The step between the entries of a long list that are tested: `usual`, or 1 (all entries) in a long run. */
export const sampleStep = (usual: number): number => Math.max(1, Math.floor(usual / factor));
