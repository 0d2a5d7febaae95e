import type { OperatorConsoleParts } from '#console/operator-console.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { fileBytesMax } from '#orders/files/file-bounds.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { soldMarket } from '#test/support/collections/sold-market.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';

/** The parts of a console that depend neither on its keys nor on a node. */
export function consoleParts(
  { pool, readers }: Pick<TestDatabase, 'pool' | 'readers'>,
  filesDir: string,
): Omit<OperatorConsoleParts, 'keys' | 'limiter'> {
  const files = new CustomerFiles(filesDir);
  return {
    pool,
    bumpBudgets: { maxSats: 20_000n, dayMaxSats: 1_000_000n, revenuePercent: 100n },
    confirmations: 3,
    requirePayoutDepth: () => undefined,
    proveFree: proveFree(readers),
    requireForeign: async () => undefined,
    approval: {
      pool,
      disk: { put: (content) => files.put(content), bytesOf: (sha256) => files.bytesOf(sha256) },
      own: { read: async () => null },
      outgoing: new OutgoingHttp({ allowPrivate: true }),
      market: soldMarket,
      signal: new AbortController().signal,
      options: { allowsDoubles: false, bytesMax: fileBytesMax, nonStandard: false },
    },
    audit: null,
    log: silentLogger(),
  };
}
