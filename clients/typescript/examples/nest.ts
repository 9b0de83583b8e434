// Documents that only their viewers may read, with NestJS. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import 'reflect-metadata';
import { Grantd } from '@grantd/client';
import { createRequires } from '@grantd/client/nest';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Request } from 'express';

const { PORT = '3000' } = process.env;

const Requires = createRequires<Request>({
  grantd: new Grantd(),
  subject: (request) => {
    const user = request.header('x-authenticated-user');
    return user === undefined ? undefined : `user:${user}`;
  },
  onError: (error) => console.error(String(error)),
});

@Controller('documents')
class Documents {
  @Get(':id')
  @Requires({ relation: 'viewer', object: (request) => `document:${request.params.id}` })
  read(@Param('id') id: string): { id: string } {
    return { id };
  }
}

@Module({ controllers: [Documents] })
class Application {}

const app = await NestFactory.create(Application, { logger: ['error'] });
await app.listen(Number(PORT), '127.0.0.1');
console.log((await app.getUrl()).replace('[::1]', '127.0.0.1'));
