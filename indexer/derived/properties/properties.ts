import { strict as assert } from 'node:assert';
import { itemBytes, itemsPerPage } from '#chain/snapshot/gallery-pages.ts';
import {
  attributesOfItems,
  jsonBytesOf,
  type PropertyFields,
  propertiesOf,
} from '#indexer/parse/property-fields.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { DerivedBlock, DerivedRows, DerivedTable } from '../derived-table.ts';
import { fillProperties } from './fill-properties.ts';

/** Titles, traits and galleries as rows, so that no answer reads a gallery whole (docs/adr/0032). */
export const properties: DerivedTable = {
  name: 'properties',
  facts: [],
  targets: [
    {
      table: 'chain.properties',
      columns: 'key, items, json_bytes, title, traits, attributes',
      keyColumns: 1,
      rowsBy: 'key',
    },
    { table: 'chain.gallery_pages', columns: 'key, page, ids', keyColumns: 2, rowsBy: 'key' },
    { table: 'chain.gallery_attributes', columns: 'key, position, attributes', keyColumns: 2, rowsBy: 'key' },
  ],
  indexes: {
    // used by the list of galleries
    properties_gallery: { table: 'chain.properties', columns: 'key', where: 'items > 0' },
    // finds the galleries that contain an inscription; an item costs some 20 bytes and has no row of its own
    gallery_pages_ids: { table: 'chain.gallery_pages', method: 'gin', columns: 'chain.id_hashes(ids)' },
  },
  firstHeight: () => 0,
  isWanted: () => true,
  hasProperties: true,
  begin: ([rows, pages, attributes]) => {
    assert(rows !== undefined && pages !== undefined && attributes !== undefined, 'three encoders');
    return new PropertyRows({ rows, pages, attributes });
  },
  fill: fillProperties,
  strays: `
    SELECT 'chain.properties' AS table, 'key ' || key AS row, $1::integer AS height FROM chain.properties p
    WHERE NOT EXISTS (
      SELECT FROM chain.inscription_details d WHERE d.key = p.key AND d.properties IS NOT NULL AND d.properties_json IS NULL
    )
    UNION ALL
    SELECT 'chain.gallery_pages', 'key ' || key || ', page ' || page, $1::integer FROM chain.gallery_pages g
    WHERE NOT EXISTS (SELECT FROM chain.properties p WHERE p.key = g.key)
    UNION ALL
    SELECT 'chain.gallery_attributes', 'key ' || key || ', position ' || position, $1::integer FROM chain.gallery_attributes g
    WHERE NOT EXISTS (SELECT FROM chain.properties p WHERE p.key = g.key)`,
  async undo(tx, { firstKey }) {
    await tx.query(
      `WITH pages AS (DELETE FROM chain.gallery_pages WHERE key >= $1),
         attributes AS (DELETE FROM chain.gallery_attributes WHERE key >= $1)
       DELETE FROM chain.properties WHERE key >= $1`,
      [firstKey],
    );
  },
};

interface Encoders {
  readonly rows: CopyEncoder;
  readonly pages: CopyEncoder;
  readonly attributes: CopyEncoder;
}

class PropertyRows implements DerivedRows {
  readonly #out: Encoders;

  constructor(out: Encoders) {
    this.#out = out;
  }

  add({ block: { columns }, ledger: { inscriptions } }: DerivedBlock): void {
    for (let row = 0; row < inscriptions.count; row++) {
      const fields = propertiesOf(columns, inscriptions.envelope[row]!);
      if (fields !== null) this.#addProperties(inscriptions.firstKey + row, fields);
    }
  }

  #addProperties(key: number, fields: PropertyFields): void {
    const { rows, pages, attributes } = this.#out;
    const { ids, itemAttributes } = fields;
    rows.row();
    rows.int4(key);
    rows.int4(ids.length / itemBytes);
    rows.int4(jsonBytesOf(fields));
    bytesOrNull(rows, fields.title);
    bytesOrNull(rows, fields.traits);
    rows.range(fields.attributes, 0, fields.attributes.length);
    const pageBytes = itemsPerPage * itemBytes;
    for (let at = 0; at < ids.length; at += pageBytes) {
      pages.row();
      pages.int4(key);
      pages.int4(at / pageBytes);
      pages.range(ids, at, Math.min(pageBytes, ids.length - at));
    }
    for (const { position, start, end } of attributesOfItems(itemAttributes)) {
      attributes.row();
      attributes.int4(key);
      attributes.int4(position);
      attributes.range(itemAttributes, start, end - start);
    }
  }
}

function bytesOrNull(out: CopyEncoder, bytes: Uint8Array | null): void {
  if (bytes === null) out.null();
  else out.range(bytes, 0, bytes.length);
}
