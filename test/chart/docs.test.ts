// README and schema of the chart are made from its values, and the generator finds what is not documented.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { renderChartDocs, renderChartReadme, renderValuesSchema } from '../../scripts/docs/write-chart-docs.ts';
import { CHART } from './support/helm.ts';

describe('the docs of the chart', () => {
  for (const [name, text] of renderChartDocs()) {
    it(`${name} is what values.yaml says`, () => {
      assert.equal(readFileSync(join(CHART, name), 'utf8'), text, 'Run `npm run generate -- docs`.');
    });
  }

  it('cannot be made while a value has no comment, or a type that nobody can tell', () => {
    assert.throws(() => renderValuesSchema('a: 1\n'), /values\.yaml: a: it has no comment/);
    assert.throws(() => renderValuesSchema('# A list.\na: []\n'), /a: a list needs a @schema with items/);
    assert.throws(() => renderValuesSchema('# Nothing.\na: null\n'), /a: an empty value needs a @schema with a type/);
  });

  it('refuse by the schema what is not in values.yaml, at every depth', () => {
    const schema = JSON.parse(renderValuesSchema('# A.\na:\n  # B.\n  b: true\n'));
    assert.equal(schema.additionalProperties, false);
    assert.equal(schema.properties.a.additionalProperties, false);
    assert.deepEqual(schema.properties.a.properties.b, { description: 'B.', default: true, type: 'boolean' });
  });

  it('show each value once, with default and meaning', () => {
    const readme = renderChartReadme('# @section Part\n\n# How many.\na: 3\n', '# Title');
    assert.match(readme, /^# Title\n[\s\S]*### Part\n\n[\s\S]*\| `a` +\| integer \| `3` +\| How many\. \|/);
  });
});
