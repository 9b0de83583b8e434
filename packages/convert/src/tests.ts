// Models and model tests of OpenFGA, SpiceDB and Permify, in the form of `grantd model test`.

import type { ModelFile } from '../../cli/src/model/model-tests.ts';
import type { YamlMap } from '../../cli/src/yaml-file.ts';
import { ModelReader, originOfYaml } from './model/model-reader.ts';
import { readStoreTests, type TestFileOptions } from './tests/openfga-store.ts';
import { PeerModel } from './tests/peer-model.ts';
import { readShape } from './tests/permify-shape.ts';
import { readValidation } from './tests/spicedb-validation.ts';

const hasOneOf = ({ fields }: YamlMap, names: readonly string[]): boolean => names.some((name) => fields.has(name));

/** Undefined: the file is not one of a peer. Throws a CliFailure that names file and line. */
export async function readPeerTests(options: TestFileOptions): Promise<ModelFile | undefined> {
  if (hasOneOf(options.root, ['model', 'model_file'])) return readStoreTests(options);
  if (!hasOneOf(options.root, ['schema', 'schemaFile', 'schema_file'])) return undefined;
  return originOfYaml(options.file, options.root) === 'permify' ? readShape(options) : readValidation(options);
}

/** The rules of a model in a file of its own. */
export async function readPeerRules(file: string): Promise<Pick<ModelFile, 'ruleSet' | 'notes'>> {
  return new PeerModel(await new ModelReader().read(file, undefined), Date.now);
}
