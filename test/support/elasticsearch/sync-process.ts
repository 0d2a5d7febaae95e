// Runs the sync of a search index until it is killed. Usage: sync-process.ts DATABASE_URL ELASTICSEARCH_URL PREFIX
import { createElasticClient } from '#search/elastic/server/elastic-client.ts';
import { runSearchSync } from '#search/sync/search-sync.ts';

const [databaseUrl = '', url = '', prefix = ''] = process.argv.slice(2);
const elastic = createElasticClient({ url });

await runSearchSync(
  {
    databaseUrl,
    elastic,
    prefix,
    network: 'regtest',
    shards: 1,
    replicas: 0,
    keysMax: 30,
    loadKeysMax: 30,
    // news never arrive; the pause between two rounds is very short
    news: { mark: () => 0, news: () => new Promise((resolve) => void setTimeout(resolve, 20)) },
    onStep: ({ kind }) => process.stdout.write(`${kind}\n`),
  },
  new AbortController().signal,
);
