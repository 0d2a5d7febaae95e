import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioNamed } from './all-scenarios.ts';
import { AttackRun } from './attack-run.ts';
import { smallChain } from './chain/hurtful-chain.ts';
import { ServiceUnderAttack } from './service/service-under-attack.ts';
import { faultsOf, timelessBounds } from './verdict.ts';

/**
 * Scenarios whose harm shows in two seconds, as an error for others or as a 5xx status, even on a busy machine. `npm
 * run attack` runs all scenarios and shows their costs. Here, one process is the target of all scenarios, one after
 * another.
 */
const scenarios = ['streams-aborted', 'market-aborted', 'keys-unknown', 'values-odd', 'foreign-bytes'];
const seconds = 2;
/**
 * Minimum number of answers. The attack then sends all odd values on all paths, and far more unknown keys than one IP
 * address may send.
 */
const answersLeast = 400;

// other systems have only one loopback address, and no /proc
describe.skipIf(process.platform !== 'linux')('a service that is attacked from one address', () => {
  let service: ServiceUnderAttack;
  let run: AttackRun;

  beforeAll(async () => {
    service = ServiceUnderAttack.prepare(smallChain);
    run = new AttackRun(service, timelessBounds);
    await run.begin({ isFresh: false });
  });

  afterAll(async () => {
    run.end();
    await service.remove();
  });

  test.each(scenarios)('serves others as before: %s', async (name) => {
    const measured = await run.run(scenarioNamed(name), seconds, answersLeast);
    expect(Object.keys(measured.tally), 'the attacker got through').not.toEqual([]);
    expect(faultsOf(measured, timelessBounds)).toEqual([]);
  });
});
