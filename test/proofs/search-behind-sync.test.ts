import { describe, test } from 'vitest';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { syncedEngineUnderTest } from '#test/support/elasticsearch/synced-index.ts';
import { describeSearchEngine } from '#test/support/search/search-engine-conformance.ts';

// npm test runs only random chains on this engine (test/integration/search/sync-reads.test.ts)
if (hasElasticsearch()) {
  describeSearchEngine('the synced Elasticsearch engine', syncedEngineUnderTest, 2);
} else {
  describe.skip('the synced Elasticsearch engine', () => {
    test('needs Elasticsearch');
  });
}
