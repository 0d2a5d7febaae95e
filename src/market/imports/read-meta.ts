import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { CollectionMeta } from '#market/collections/collection.store.ts';
import { descriptionOf, invalid, linkOf, nameOf } from '#market/collections/collection-texts.ts';

const file = 'meta.json';
/** No dots and no slashes: a slug is a part of paths. */
const slugPattern = /^[a-z0-9][a-z0-9_-]{0,99}$/u;

/** `/marketplace/data/collections/of/…` is a path of its own. */
const takenSlug = 'of';

/** Whether a text may be the slug of an import. Ids of inscriptions are slugs of parents and galleries. */
export function isImportSlug(text: string): boolean {
  return slugPattern.test(text) && text !== takenSlug && parseInscriptionId(text) === null;
}

/**
 * Reads `meta.json`. Unknown fields are left out: collections of the community have many.
 *
 * @param folder the slug where the file names none: the name of its folder
 */
export function readMeta(text: string, folder: string): CollectionMeta {
  const fields = objectOf(text);
  const slug = fields['slug'] ?? folder;
  if (typeof slug !== 'string' || !isImportSlug(slug))
    throw invalid(
      `${file}, slug`,
      'a slug is 1 to 100 of a-z, 0-9, _ and -, and neither "of" nor the id of an inscription',
    );
  const name = nameOf(fields['name'], `${file}, name`);
  if (name === null) throw invalid(`${file}, name`, 'a collection has a name');
  return {
    slug,
    name,
    description: descriptionOf(fields['description'], `${file}, description`),
    icon: iconOf(fields['inscription_icon']),
    website: linkOf(fields['website_link'], `${file}, website_link`),
    twitter: linkOf(fields['twitter_link'], `${file}, twitter_link`),
    discord: linkOf(fields['discord_link'], `${file}, discord_link`),
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(file, 'it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(file, 'it is not an object');
  return value as Readonly<Record<string, unknown>>;
}

function iconOf(value: unknown): InscriptionId | null {
  if (value === undefined || value === null || value === '') return null;
  const id = typeof value === 'string' ? parseInscriptionId(value) : null;
  if (id === null) throw invalid(`${file}, inscription_icon`, 'it is not the id of an inscription');
  return id;
}
