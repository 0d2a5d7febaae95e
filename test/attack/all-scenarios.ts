import type { Scenario } from './scenario.ts';
import { addressScenarios } from './scenarios/addresses.ts';
import { bodyScenarios } from './scenarios/bodies.ts';
import { connectionScenarios } from './scenarios/connections.ts';
import { contentScenarios } from './scenarios/contents.ts';
import { galleryScenarios } from './scenarios/galleries.ts';
import { keyScenarios } from './scenarios/keys.ts';
import { leaverScenarios } from './scenarios/leavers.ts';
import { marketScenarios } from './scenarios/market.ts';
import { mixedScenarios } from './scenarios/mixed.ts';
import { nodeScenarios } from './scenarios/node.ts';
import { operationScenarios } from './scenarios/operations.ts';
import { orderScenarios } from './scenarios/orders.ts';
import { readerScenarios } from './scenarios/readers.ts';
import { requestScenarios } from './scenarios/requests.ts';
import { runeScenarios } from './scenarios/runes.ts';
import { searchScenarios } from './scenarios/searches.ts';
import { streamScenarios } from './scenarios/streams.ts';

export const allScenarios: readonly Scenario[] = [
  ...streamScenarios,
  ...leaverScenarios,
  ...bodyScenarios,
  ...readerScenarios,
  ...connectionScenarios,
  ...galleryScenarios,
  ...searchScenarios,
  ...contentScenarios,
  ...requestScenarios,
  ...runeScenarios,
  ...addressScenarios,
  ...marketScenarios,
  ...operationScenarios,
  ...nodeScenarios,
  ...orderScenarios,
  ...keyScenarios,
  ...mixedScenarios,
];

/** The scenario with a name. Throws a RangeError if no scenario has this name. */
export function scenarioNamed(name: string): Scenario {
  const found = allScenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new RangeError(`there is no scenario ${name}`);
  return found;
}
