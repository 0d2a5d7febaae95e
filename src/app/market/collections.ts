import { createPool } from '#kernel/pg/pool.ts';
import { folderSource, urlSource } from '#market/imports/collection-source.ts';
import { type ImportOutcome, importCollection } from '#market/imports/import-collection.ts';
import { itemsMax } from '#market/imports/read-items.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openDatabase } from '#src/app/database/database.ts';

/** How long a statement may take, in ms. Writing 100,000 items takes two seconds. */
const statementTimeoutMs = 60_000;
const barWidth = 28;

/** Imports a collection from a folder or from a URL. A service may run at the same time. */
export async function importCollectionFrom(context: CommandContext, place: string): Promise<ImportOutcome> {
  const { config, lifecycle } = context;
  const { url } = await openDatabase(context, 'existing');
  const pool = createPool(url, { applicationName: 'satscribe collections', max: 1, statementTimeoutMs });
  lifecycle.add('collections connection', () => pool.end());
  const outcome = Promise.withResolvers<ImportOutcome>();
  await lifecycle.run('import', async (signal) => {
    const http = new OutgoingHttp({ allowPrivate: config.allowPrivateUrls });
    const isUrl = /^https?:/iu.test(place);
    const source = isUrl ? urlSource(place, http, signal) : folderSource(place);
    try {
      outcome.resolve(await importCollection(pool, source, drawItems));
    } finally {
      // clear the line, because the next output (a result or an error) must begin on an empty line
      if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    }
  });
  return outcome.promise;
}

/**
 * Draws a progress bar on a terminal. No file names the number of items in the collection, so the bar shows the share
 * of the maximum number of items.
 */
function drawItems(items: number): void {
  if (!process.stderr.isTTY) return;
  const full = Math.round((items / itemsMax) * barWidth);
  process.stderr.write(`\r\u001b[2K${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${items} items read`);
}
