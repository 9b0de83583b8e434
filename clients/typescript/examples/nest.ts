// Documents that only their viewers may read, with NestJS. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import 'reflect-metadata';
import { Grantd, GrantdError } from '@grantd/client';
import { createRequires } from '@grantd/client/nest';
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Module,
  Param,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Request, Response } from 'express';

const { PORT = '3000' } = process.env;
const DOCUMENTS_MAX = 100;

const grantd = new Grantd({ timeoutMs: 2000 });

function subjectOf(request: Request): string | undefined {
  const user = request.header('x-authenticated-user');
  return user === undefined ? undefined : `user:${user}`;
}

const Requires = createRequires<Request>({
  grantd,
  subject: subjectOf,
  onError: (error) => console.error(String(error)),
});

@Controller('documents')
class Documents {
  @Get(':id')
  @Requires({ relation: 'viewer', object: (request) => `document:${request.params.id}` })
  read(@Param('id') id: string): { id: string } {
    return { id };
  }

  /** The list has what its reader may read, and nothing else. */
  @Get()
  async list(@Req() request: Request): Promise<string[]> {
    const subject = subjectOf(request);
    if (subject === undefined) throw new UnauthorizedException();
    const ids: string[] = [];
    for await (const object of grantd.listObjects({ subject, relation: 'viewer', namespace: 'document' })) {
      ids.push(object.slice('document:'.length));
      if (ids.length === DOCUMENTS_MAX) break;
    }
    return ids;
  }
}

/** No answer is neither a yes nor a no: the request is not served, and may be repeated. */
@Catch(GrantdError)
class NoAnswer implements ExceptionFilter<GrantdError> {
  catch(error: GrantdError, host: ArgumentsHost): void {
    console.error(String(error));
    const response = host.switchToHttp().getResponse<Response>();
    response.status(503).set('retry-after', '1').json({ title: 'Service Unavailable', status: 503 });
  }
}

@Module({ controllers: [Documents] })
class Application {}

const app = await NestFactory.create(Application, { logger: ['error'] });
app.useGlobalFilters(new NoAnswer());
await app.listen(Number(PORT), '127.0.0.1');
export const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
console.log(url);
