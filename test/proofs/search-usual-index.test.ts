import { describe, test } from 'vitest';
import { followerUnderTest } from '#test/support/elasticsearch/elastic-follower.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { describeSearchEngine } from '#test/support/search/search-engine-conformance.ts';

if (hasElasticsearch()) {
  describeSearchEngine('the Elasticsearch engine with an index as services have it', async (pool) =>
    followerUnderTest(pool, await sharedElasticsearch(), { shards: 1 }),
  );
} else {
  describe.skip('the Elasticsearch engine with an index like that of services', () => {
    test('needs Elasticsearch');
  });
}
