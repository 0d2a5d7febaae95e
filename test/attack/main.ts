import { parseArgs } from 'node:util';
import { allScenarios } from './all-scenarios.ts';
import { AttackRun } from './attack-run.ts';
import { wholeChain } from './chain/hurtful-chain.ts';
import { headLine, type Result, resultJson, resultLine } from './report.ts';
import type { Scenario } from './scenario.ts';
import { ServiceUnderAttack } from './service/service-under-attack.ts';
import { soak, soakLines } from './soak.ts';
import { bounds, faultsOf } from './verdict.ts';

const usage = `npm run attack [-- --scenario NAME … --seconds N]

Attacks a service of its own (a heap of 1 GB, its own Postgres, a chain made to hurt) from one address while a good
client of another asks look-ups, searches and pages, and says what the good client felt (docs/attacks.md).

  --scenario NAME  only this one; may be given several times; also the beginning of names
  --seconds N      of each scenario (default 8)
  --soak MINUTES   no scenario, but mixed load: memory over time, and what is left over at the end
  --json           one line of JSON for each scenario instead of the table
  --list           the scenarios
Exit code 1: a scenario was not withstood, or the soak found a leak.`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '8' },
    soak: { type: 'string' },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Scenarios that have one of these names, or whose names begin with one of them. */
function chosen(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return allScenarios;
  return allScenarios.filter(({ name }) =>
    names.some((wanted) => name === wanted || name.startsWith(`${wanted}-`)),
  );
}

const say = (text: string): void => {
  if (!values.json) console.log(text);
};

/** Prepares a service and a run against it, and ends them after `use`. */
async function underAttack(
  use: (run: AttackRun, service: ServiceUnderAttack) => Promise<boolean>,
): Promise<boolean> {
  say('making the chain and its index …');
  const service = ServiceUnderAttack.prepare(wholeChain);
  const run = new AttackRun(service, bounds);
  try {
    await run.begin({ isFresh: true });
    return await use(run, service);
  } finally {
    run.end();
    await service.remove();
  }
}

async function attackAll(run: AttackRun, scenarios: readonly Scenario[], seconds: number): Promise<boolean> {
  const startedAt = performance.now();
  let withstood = 0;
  say(`${scenarios.length} scenarios of ${seconds} s; times in ms\n\n${headLine}`);
  for (const scenario of scenarios) {
    if (process.stdout.isTTY && !values.json) process.stdout.write(`${scenario.name} …\r`);
    const measured = await run.run(scenario, seconds);
    const result: Result = { measured, faults: faultsOf(measured, bounds) };
    if (result.faults.length === 0) withstood++;
    console.log(values.json ? resultJson(result) : resultLine(result));
  }
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  say(`\nattack: ${withstood} of ${scenarios.length} scenarios withstood, ${minutes} minutes`);
  return withstood === scenarios.length;
}

async function soakFor(run: AttackRun, service: ServiceUnderAttack, minutes: number): Promise<boolean> {
  const result = await soak(service, run, minutes, say);
  console.log(values.json ? JSON.stringify(result) : soakLines(result).join('\n'));
  return result.faults.length === 0;
}

const seconds = Number(values.seconds);
const minutes = values.soak === undefined ? null : Number(values.soak);
const scenarios = chosen(values.scenario);
if (values.help || !(seconds > 0) || (minutes !== null && !(minutes > 0)) || scenarios.length === 0) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else if (values.list) {
  for (const { name, what } of allScenarios) console.log(`${name.padEnd(20)} ${what}`);
} else {
  const isWithstood = await underAttack((run, service) =>
    minutes === null ? attackAll(run, scenarios, seconds) : soakFor(run, service, minutes),
  );
  process.exitCode = isWithstood ? 0 : 1;
}
