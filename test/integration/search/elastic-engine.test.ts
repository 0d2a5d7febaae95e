import { describe, test } from 'vitest';
import { followerUnderTest } from '#test/support/elasticsearch/elastic-follower.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { describeSearchEngine } from '#test/support/search/search-engine-conformance.ts';

if (hasElasticsearch()) {
  // nearly every page needs many spans and several rounds of counting; test/proofs/search-usual-index.test.ts tests the
  // usual index, in which a test's chain is one span
  describeSearchEngine(
    'the Elasticsearch engine with three shards and small spans',
    async (pool) =>
      followerUnderTest(pool, await sharedElasticsearch(), {
        shards: 3,
        tuning: {
          spanKeys: 64,
          keysPerDocument: 3,
          hitsMax: 4,
          rangesMax: 4,
          rangeMatchesMax: 2,
          shapesMax: 40,
          namedShapesMax: 2,
        },
      }),
    // each case sends some hundred queries, and the server refreshes for each block of a case
    3,
  );
} else {
  describe.skip('the Elasticsearch engine', () => {
    test('needs Elasticsearch');
  });
}
