import { type Static, Type } from 'typebox';

/** Settings of searches and of the search server. They are part of the schema of all settings. */
export const searchSettings = {
  elasticsearchUrl: Type.Optional(
    Type.String({
      pattern: '^https?://',
      maxLength: 4096,
      secret: true,
      description:
        'Elasticsearch 9 for searches, as https://host:9200; several nodes are separated by commas; unset: Postgres answers searches',
    }),
  ),
  elasticsearchUser: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'user of Elasticsearch' }),
  ),
  elasticsearchPassword: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      secret: true,
      description: 'password of ELASTICSEARCH_USER',
    }),
  ),
  elasticsearchApiKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      secret: true,
      description: 'API key of Elasticsearch in its encoded form, instead of user and password',
    }),
  ),
  elasticsearchCaFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'PEM file of the authority that signed the certificate of Elasticsearch',
    }),
  ),
  elasticsearchIndexPrefix: Type.String({
    pattern: '^[a-z][a-z0-9-]*$',
    maxLength: 64,
    default: 'satscribe',
    description: 'prefix of the names of indices and aliases in Elasticsearch',
  }),
  elasticsearchShards: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 2,
    description:
      'number of shards of the next index; use one for each core, on all nodes together, that a search should use',
  }),
  elasticsearchReplicas: Type.Integer({
    minimum: 0,
    maximum: 8,
    default: 0,
    description:
      'number of additional copies of each shard once an index is loaded; with 1, searches survive the loss of a node',
  }),
  searchFallback: Type.Enum(['postgres', 'error'], {
    default: 'postgres',
    description:
      'what answers searches while Elasticsearch cannot: `postgres`, with its own index, or an error',
  }),
  searchLagBlocks: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    // a block reaches Elasticsearch within seconds; if it lacks more than a few blocks, it is late
    default: 3,
    description:
      'maximum number of blocks of the index that Elasticsearch may lack while it still answers searches',
  }),
  searchTextMaxBytes: Type.Integer({
    minimum: 0,
    // no body can be longer than a block
    maximum: 4_000_000,
    default: 4_000_000,
    description:
      'maximum length of a decoded text that is searchable, in bytes, from the next block on; longer contents are found only by hash',
  }),
};

const schema = Type.Object(searchSettings);

/** Finds contradictions between these settings. */
export function wrongSearchSettings(config: Static<typeof schema> & { readonly role: string }): string[] {
  const wrong: string[] = [];
  if ((config.elasticsearchUser === undefined) !== (config.elasticsearchPassword === undefined)) {
    wrong.push('ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD must be set together or not at all');
  }
  if (config.elasticsearchApiKey !== undefined && config.elasticsearchUser !== undefined) {
    wrong.push('ELASTICSEARCH_API_KEY and ELASTICSEARCH_USER exclude each other');
  }
  if (config.role === 'search-sync' && config.elasticsearchUrl === undefined) {
    wrong.push('ROLE search-sync needs ELASTICSEARCH_URL');
  }
  return wrong;
}
