import fc from 'fast-check';
import { propertyRuns } from './property-runs.ts';

// for properties that name no number of cases
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: propertyRuns(100) });

// In CI, properties try the same cases every time, because CI judges the change that was submitted. Everywhere else
// they are random, and `npm run test:long` tries ten times as many. PROPERTY_SEED=n repeats a run.
const fixed = process.env['PROPERTY_SEED'] ?? (process.env['CI'] === 'true' ? '1' : undefined);
if (fixed !== undefined) {
  const seed = Number(fixed);
  if (!Number.isInteger(seed)) throw new Error(`PROPERTY_SEED must be an integer, not ${fixed}`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
