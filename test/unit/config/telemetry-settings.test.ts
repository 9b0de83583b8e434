// The settings of traces: the variables of OpenTelemetry, held to the same rules as our own.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePairs } from '../../../src/config/parsers.ts';
import { describeConfig, readConfig } from '../../../src/config/read-config.ts';
import { problemsOf, settingFiles } from './problems.ts';

const SECRET = 'Bearer%20s3cret';

describe('the settings of traces', () => {
  const { file } = settingFiles();

  it('are read as OpenTelemetry names them', () => {
    const config = readConfig('dev', {
      OTEL_SDK_DISABLED: 'True',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318/',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces:4318/in',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET},x-scope=a`,
      OTEL_SERVICE_NAME: 'authorization',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production, team=a%2Cb',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '.25',
    });
    assert.equal(config.tracesDisabled, true);
    assert.equal(config.tracesBaseEndpoint, 'https://collector:4318');
    assert.equal(config.tracesEndpoint, 'https://traces:4318/in');
    assert.deepEqual(
      { ...parsePairs(config.tracesHeaders?.reveal() ?? '') },
      {
        authorization: 'Bearer s3cret',
        'x-scope': 'a',
      },
    );
    assert.equal(config.serviceName, 'authorization');
    assert.deepEqual({ ...config.resourceAttributes }, { 'deployment.environment.name': 'production', team: 'a,b' });
    assert.equal(config.tracesSampler, 'traceidratio');
    assert.equal(config.tracesSamplerRatio, 0.25);
  });

  it('never show the headers, which may stand in a file', () => {
    const config = readConfig('front', {
      GRANTD_BASE_URL: 'https://grantd.example.com',
      GRANTD_DISCOVERY: 'static:127.0.0.1:1',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: file(`authorization=${SECRET}\n`),
    });
    assert.equal(config.tracesHeaders?.reveal(), `authorization=${SECRET}`);
    assert.ok(!`${JSON.stringify(describeConfig(config))}${JSON.stringify(config)}`.includes('s3cret'));
  });

  it('stop the start where they are wrong, without repeating a secret', () => {
    const problems = problemsOf({
      OTEL_SDK_DISABLED: 'perhaps',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: `${SECRET}, no pair`,
      OTEL_RESOURCE_ATTRIBUTES: 'a=%zz',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '2',
    });
    const expected = [
      /^OTEL_SDK_DISABLED must be true or false/,
      /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/,
      /^OTEL_EXPORTER_OTLP_HEADERS must be comma-separated pairs of the form key=value$/,
      /^OTEL_RESOURCE_ATTRIBUTES must be percent-encoded/,
      /^OTEL_TRACES_SAMPLER must be one of always_on, .*"jaeger_remote"/,
      /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is "2"/,
    ];
    assert.equal(problems.length, expected.length, problems.join('\n'));
    for (const [index, problem] of problems.entries()) {
      assert.match(problem, expected[index] ?? /^$/);
      assert.ok(!problem.includes('s3cret'));
    }
  });

  it('take no header that HTTP has not', () => {
    for (const headers of ['a b=1', 'a=%0d%0aevil: 1', 'ä=1', '=1']) {
      assert.match(problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: headers }).join(), /^OTEL_EXPORTER_OTLP_HEADERS must /);
    }
  });
});
