// Contexts of caveats in a backup, against the library that has the message.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromJson, type JsonObject, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { parseStruct, StructError } from '../../../packages/convert/src/tuples/struct-message.ts';

const bytesOf = (context: JsonObject): Buffer => Buffer.from(toBinary(StructSchema, fromJson(StructSchema, context)));

describe('a context in a backup', () => {
  it('is read as the JSON that was stored', () => {
    const contexts = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 });
    fc.assert(
      fc.property(contexts, (drawn) => {
        const context = JSON.parse(JSON.stringify(drawn));
        assert.deepEqual(parseStruct(bytesOf(context)), context);
      }),
    );
    assert.deepEqual(parseStruct(Buffer.alloc(0)), {});
  });

  it('that is damaged is refused, whatever the damage', () => {
    const whole = bytesOf({ day: 'monday', limits: [1, { deep: null }], open: true });
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
        const damaged = Buffer.from(whole);
        damaged[at] = byte;
        try {
          parseStruct(damaged);
        } catch (error) {
          assert.ok(error instanceof StructError, String(error));
        }
      }),
    );
    assert.throws(() => parseStruct(whole.subarray(0, -1)), StructError);
    for (const around of [(deep: JsonValue) => ({ a: deep }), (deep: JsonValue) => [deep]]) {
      let deep: JsonValue = 1;
      for (let depth = 0; depth < 40; depth += 1) deep = around(deep);
      assert.throws(() => parseStruct(bytesOf({ deep })), /nested too deeply/);
    }
  });
});
