import { describe, test } from 'vitest';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { syncedEngineUnderTest } from '#test/support/elasticsearch/synced-index.ts';
import { describeSearchEngine } from '#test/support/search/search-engine-conformance.ts';

// what npm test asks of it on random chains alone (test/integration/search/sync-reads.test.ts)
if (hasElasticsearch()) {
  describeSearchEngine('the synced Elasticsearch engine', syncedEngineUnderTest, 2);
} else {
  describe.skip('the synced Elasticsearch engine', () => {
    test('needs Elasticsearch');
  });
}
