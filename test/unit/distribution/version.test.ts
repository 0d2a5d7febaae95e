import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '#kernel/process/version.ts';

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const parsed = <T>(name: string): T => JSON.parse(read(name)) as T;

interface Package {
  readonly version: string;
}

interface Document {
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string; readonly 'x-version'?: string }[];
  readonly paths: Readonly<Record<string, { readonly get?: { readonly description?: string } }>>;
}

const document = parsed<Document>('docs/openapi.json');

describe('the version of package.json', () => {
  test('is the one of the program, the lock file and the API document', () => {
    const lock = parsed<Package & { readonly packages: { readonly '': Package } }>('package-lock.json');
    const all = [version, lock.version, lock.packages[''].version, document.info.version];
    expect(new Set(all)).toEqual(new Set([parsed<Package>('package.json').version]));
  });

  test('has the newest entry of the changelog', () => {
    expect(/^## (.+)$/mu.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  });
});

test('paths of the public interface keep the versions that it gives them', () => {
  const versions = document.tags.flatMap((tag) => tag['x-version'] ?? []);
  expect(versions).toEqual(['0.1.1']);
  const activity = document.paths['/marketplace/data/collections/activity']?.get?.description;
  expect(activity).toContain('Version 0.0.1 of the marketplace interface.');
});
