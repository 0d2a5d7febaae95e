// Follows watches of a regtest index until a failpoint kills it. Usage: watches-process.ts DATABASE_URL FAILPOINT
import { pino } from 'pino';
import { networks } from '#kernel/primitives/network.ts';
import { armFailpoint, watchFailpoints } from '#kernel/process/failpoint.ts';
import { followWatches } from '#watches/following/follow-watches.ts';

const [url = '', name = ''] = process.argv.slice(2);
const point = watchFailpoints.find((known) => known === name);
if (point !== undefined) armFailpoint(point, 1);

await followWatches({
  url,
  network: networks.regtest,
  readCollections: async (_, ids) => ids.map(() => null),
  signal: new AbortController().signal,
  log: pino({ level: 'silent' }),
});
