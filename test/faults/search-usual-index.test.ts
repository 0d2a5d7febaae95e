import { describe, test } from 'vitest';
import { followerUnderTest } from '#test/support/elastic-follower.ts';
import { hasElasticsearch } from '#test/support/elasticsearch.ts';
import { describeSearchEngine } from '#test/support/search-engine-conformance.ts';
import { sharedElasticsearch } from '#test/support/shared-elasticsearch.ts';

if (hasElasticsearch()) {
  describeSearchEngine('the Elasticsearch engine with an index as services have it', async (pool) =>
    followerUnderTest(pool, await sharedElasticsearch(), { shards: 1 }),
  );
} else {
  describe.skip('the Elasticsearch engine with an index as services have it', () => {
    test('needs Elasticsearch');
  });
}
