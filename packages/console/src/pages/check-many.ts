// Many checks at once, pasted as lines or JSON, perhaps with the results that they expect: all are answered at one
// moment, and what differs is marked. The results make a file that `grantd check -f` compares with later.

import type { CallContext } from '../../../../src/core/call-context.ts';
import { BULK_CHECKS_MAX } from '../../../../src/core/limits.ts';
import type { LenientAnswer, OperatorTenantSession, RequestContext } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import {
  type ExpectedCheck,
  type ExpectedLine,
  formatExpectedChecks,
  parseExpectedChecks,
} from '../../../../src/rules/expected-checks.ts';
import { answerQuestion, joinRefusals, type Outcome, type Refusal, refuse } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, tenantPath } from '../page.ts';
import { samplesMarkup } from '../parts/check-samples.ts';
import {
  checkLinkTo,
  contextFields,
  type ReadContext,
  readContext,
  type TypedContext,
} from '../parts/context-fields.ts';
import { changeForm, formError, hidden, submit, textArea } from '../parts/form-parts.ts';
import { tenantPage } from '../parts/layout.ts';
import { copyBlock, count, crumb, foreign, moment, plural, section, table, warningsMarkup } from '../parts/parts.ts';

/** UTF-16 units that the box takes, more than 100 of the longest checks have. */
const TEXT_LENGTH_MAX = 200_000;

/** A line with its result, or the reason why it has none. */
type Row = { readonly number: number } & (
  | (ExpectedCheck & { readonly authorized: boolean })
  | { readonly refusal: string }
);
type AnswerRow = Extract<Row, { readonly authorized: boolean }>;

interface Results {
  readonly rows: readonly Row[];
  readonly checkedAtMs: number;
}

const isAnswered = (row: Row): row is AnswerRow => 'authorized' in row;
const differs = ({ expected, authorized }: AnswerRow): boolean => expected !== undefined && expected !== authorized;
const shown = (authorized: boolean): string => (authorized ? 'authorized' : 'not authorized');

async function check(
  call: PageCall,
  session: OperatorTenantSession,
  lines: readonly ExpectedLine[],
  request: RequestContext,
  context: CallContext,
): Promise<Results> {
  const asked = lines.flatMap((line) => ('question' in line ? [line] : []));
  const questions = asked.map(({ question }) => question);
  const answer: LenientAnswer =
    questions.length > 0
      ? await session.checkOrDeny(request, questions, context)
      : { authorized: [], undefinedAt: [], hints: [], checkedAtMs: call.clock.wallMs() };
  const { authorized, undefinedAt, hints, checkedAtMs } = answer;
  const rows = lines.map((line): Row => {
    if ('refusal' in line) return line;
    const { number, question } = line;
    const at = asked.indexOf(line);
    const place = undefinedAt.indexOf(at);
    if (place < 0) return { ...line, authorized: authorized[at] === true };
    const refusal = `No rule of the tenant defines the name ${JSON.stringify(question.relation)}. ${hints[place] ?? ''}`;
    return { number, refusal: refusal.trimEnd() };
  });
  return { rows, checkedAtMs };
}

function resultCell(tenantId: string, row: AnswerRow, typed: TypedContext): Markup {
  const { question, authorized, expected } = row;
  const why = html`<a href=${checkLinkTo(tenantId, { ...question }, typed)}>${authorized ? 'why' : 'why not'}</a>`;
  const badge = html`<span class="badge ${authorized ? 'state-active' : ''}">${shown(authorized)}</span>`;
  const difference =
    expected !== undefined && differs(row)
      ? html`<strong class="differs">▲ expected: ${shown(expected)}</strong>${' '}`
      : undefined;
  return html`${badge} ${difference}${why}`;
}

function resultsMarkup(
  call: PageCall,
  session: OperatorTenantSession,
  { rows, checkedAtMs }: Results,
  { members, typed }: ReadContext,
): Markup {
  const answered = rows.filter(isAnswered);
  const authorized = answered.filter((row) => row.authorized).length;
  const expecting = answered.filter(({ expected }) => expected !== undefined).length;
  const different = answered.filter(differs).length;
  const wrong = rows.length - answered.length;
  const { tenantId } = session;
  const title =
    different > 0 ? `${plural(different, 'result')} not as expected` : expecting > 0 ? 'As expected' : 'Results';
  const questions = answered.map(({ question }) => question);
  const file = formatExpectedChecks(
    answered.map(({ question, expected, authorized: now }) => ({ question, expected: expected ?? now })),
  );
  const whole = different === 0 && wrong === 0;
  const resultsTable = table<Row>('Results', rows, [
    ['Line', ({ number }) => count(number)],
    ['Subject', (row) => isAnswered(row) && foreign(row.question.subject)],
    ['Relation', (row) => isAnswered(row) && row.question.relation],
    ['Object', (row) => isAnswered(row) && foreign(row.question.object)],
    [
      'Result',
      (row) =>
        isAnswered(row)
          ? resultCell(tenantId, row, typed)
          : html`<strong class="differs">▲ not checked:</strong> <bdi>${row.refusal}</bdi>`,
    ],
  ]);
  return html`<section class="answer ${whole ? 'yes' : 'no'}" role="status" aria-labelledby="answer-title">
      <h2 id="answer-title">${title}</h2>
      <p>${plural(answered.length, 'check')}: ${count(authorized)} authorized, ${count(answered.length - authorized)} not
        authorized.${expecting === 0 ? undefined : ` ${count(expecting - different)} of ${count(expecting)} as expected.`}
        ${wrong === 0 ? undefined : html`${' '}<strong>${plural(wrong, 'line')} could not be checked.</strong>`}</p>
      ${session.suspended ? html`<p>The tenant is suspended: its own requests are refused, whatever the results of these checks.</p>` : undefined}
      <p class="id">Checked at one moment, ${moment(checkedAtMs)}</p>
    </section>
    ${resultsTable}
    ${questions.length > 0 && [fileSection(call, tenantId, file), samplesMarkup('These checks as code', questions, members)]}`;
}

/** Results are kept in the repository of the application that needs them, not here. */
function fileSection(
  call: PageCall,
  tenantId: string,
  { text, format }: ReturnType<typeof formatExpectedChecks>,
): Markup {
  const name = `checks.${format}`;
  const content = html`
    <p>A file with these checks and the results they should have: those you gave, otherwise the current ones. Add it to the
      repository of your application, and let its pipeline compare:${' '}
      <code>grantd check -f ${name} --tenant ${tenantId}</code></p>
    ${copyBlock(text, 'the file')}
    ${changeForm(
      call.session,
      tenantPath(tenantId, 'check/many/file'),
      html`${hidden({ lines: text })}${submit(`Download ${name}`, 'secondary')}`,
      { changesNothing: true, label: 'Download' },
    )}`;
  return section('file', 'Keep these results', content, 'card');
}

/** The lines of the form, or why none of them can be checked. */
function readLines(text: string): readonly ExpectedLine[] | Refusal {
  if (text.length > TEXT_LENGTH_MAX) return refuse('lines', 'The text is too long. Nothing was checked.');
  const { lines, count: found } = parseExpectedChecks(text, BULK_CHECKS_MAX);
  if (found === 0) return refuse('lines', 'Enter at least one check.');
  if (found <= BULK_CHECKS_MAX) return lines;
  return refuse(
    'lines',
    `These are ${count(found)} checks; at most ${BULK_CHECKS_MAX} can be asked at one moment. Nothing was checked. For longer lists, use “grantd check -f”.`,
  );
}

function manyForm(call: PageCall, tenantId: string, refusal: Refusal | undefined): Markup {
  const filled = { fields: call.form, refusal };
  const lines = {
    name: 'lines',
    label: 'Checks, one per line',
    required: true,
    hint: html`Subject, relation and object, separated by spaces, tabs or commas:${' '}
      <code>user:ada viewer document:plan</code>. A fourth part says which result you expect: <code>true</code> or${' '}
      <code>false</code>. JSON works too: lines, an array, or the body of a bulk check.`,
    rows: 10,
    lengthMax: TEXT_LENGTH_MAX,
  };
  return changeForm(
    call.session,
    tenantPath(tenantId, 'check/many'),
    html`${formError(filled)}
      ${textArea(lines, filled)}
      ${contextFields(filled, 'these checks')}
      ${submit('Check all')}`,
    { changesNothing: true, label: 'Checks' },
  );
}

async function showResults(
  call: PageCall,
  session: OperatorTenantSession,
  lines: readonly ExpectedLine[],
  context: ReadContext,
): Promise<Markup> {
  const request = call.context();
  const results = await check(call, session, lines, request, context.call);
  return [warningsMarkup(request), resultsMarkup(call, session, results, context)];
}

async function answerLines(call: PageCall, session: OperatorTenantSession): Promise<Outcome<Markup>> {
  const [lines, context] = [readLines(call.form.text('lines')), readContext(call.form)];
  if ('messages' in lines) return joinRefusals({ refusal: lines }, context);
  if ('refusal' in context) return context;
  return answerQuestion(() => showResults(call, session, lines, context));
}

async function manyPage(call: PageCall, isAsked: boolean): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { answer, refusal }: Outcome<Markup> = isAsked ? await answerLines(call, session) : {};
  const content = html`<section class="many-checks" aria-labelledby="many-title">
      ${crumb(tenantPath(tenant.tenantId, 'check'), 'One check, with its reason')}
      <h2 id="many-title">Check many at once</h2>
      <p>Up to ${BULK_CHECKS_MAX} checks are answered at one moment, as the API answers a bulk check. They change nothing.</p>
      ${manyForm(call, tenant.tenantId, refusal)}
    </section>${answer}`;
  return tenantPage(tenant, 'check', `Checks for ${tenant.name}`, content, refusal);
}

export const checkManyPage = (call: PageCall): Promise<PageResult> => manyPage(call, false);
export const checkMany = (call: PageCall): Promise<PageResult> => manyPage(call, true);

/** Only what the page itself could have written: anything else in the form is not part of the file. */
export function checksFile(call: PageCall): PageResult {
  const lines = readLines(call.form.text('lines'));
  const checks = 'messages' in lines ? [] : lines.flatMap((line) => ('question' in line ? [line] : []));
  const { format, text } = formatExpectedChecks(checks);
  const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
  return { kind: 'file', name: `checks.${format}`, contentType, text };
}
