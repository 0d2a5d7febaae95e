import { describe, expect, test } from 'vitest';
import {
  alertRows,
  alertRules,
  allExpressions,
  dashboardPanels,
  documentedMetrics,
  readExpression,
  registeredName,
} from '#test/support/operations/expressions.ts';

describe('the alert rules', () => {
  test('are those of the table of docs/metrics.md, in its order', () => {
    expect(alertRows().length).toBeGreaterThan(20);
    expect(alertRules().map(({ alert }) => alert)).toEqual(alertRows().map(({ alert }) => alert));
  });

  test.each(alertRows())('$alert compares every metric that the table names', ({ alert, when }) => {
    const rule = alertRules().find((candidate) => candidate.alert === alert)!;
    const used = readExpression(rule.expr).metrics.map(registeredName);
    for (const [, name = ''] of when.matchAll(/`((?:satscribe|nodejs)_\w+)/gu))
      expect(used).toContain(registeredName(name));
    expect(used.length).toBeGreaterThan(0);
    // the bound of the table is the bound of the rule
    for (const [bound] of when.matchAll(/(?:[<>]|==) [\d.]+(?=`)/gu)) expect(rule.expr).toContain(bound);
  });

  test.each(alertRules())('$alert says what happened and what to do', (rule) => {
    expect(rule.for).toMatch(/^\d+[mh]$/u);
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    for (const text of [rule.annotations.summary, rule.annotations.description])
      expect(text).toMatch(/\w.+\.$/u);
  });
});

test('every panel of the dashboard has a title, a unit and expressions with legends', () => {
  const panels = dashboardPanels().filter(({ type }) => type !== 'row');
  expect(panels.length).toBeGreaterThan(20);
  for (const { title, fieldConfig, targets = [] } of panels) {
    expect(title).toMatch(/\w/u);
    expect(fieldConfig?.defaults.unit, title).toMatch(/^\w+$/u);
    expect(targets.length, title).toBeGreaterThan(0);
    for (const { legendFormat } of targets) expect(legendFormat, title).toMatch(/\w/u);
  }
  const ids = dashboardPanels().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every metric and label of both files is documented', () => {
  const documented = documentedMetrics();
  for (const expression of allExpressions()) {
    const { metrics, labels } = readExpression(expression);
    const ours = metrics.map(registeredName).filter((name) => name.startsWith('satscribe_'));
    for (const name of ours) expect([...documented.keys()], expression).toContain(name);
    // those of the scrape, and of histograms
    const known = new Set(['job', 'instance', 'le', ...ours.flatMap((name) => documented.get(name) ?? [])]);
    for (const label of labels) expect(known, expression).toContain(label);
  }
});

test.each(['sum(a', 'a{b="c"', 'a)', 'a # b', 'a["c"}', "a == 'b'"])('%s is not an expression', (text) => {
  expect(() => readExpression(text)).toThrow();
});
