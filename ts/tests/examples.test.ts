// Every example in the documentation comments and in the READMEs is compiled strictly and run.
import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as client from '../dist/client.js';
import * as main from '../dist/index.js';
import { SERVER_BINARY, realServer, type RealServer } from './support/real-server.js';

const root = new URL('../', import.meta.url);
const scratch = new URL('tests/.examples/', root);

const DEFAULT_ADDRESS = 'http://127.0.0.1:7878';

interface Example {
  readonly name: string;
  /** The class or function that the example documents; nothing for a method, or in a README. */
  readonly declaration?: string | undefined;
  readonly code: string;
  readonly needsServer: boolean;
  /** Whether Node runs it as it stands: people copy README examples without a compiler. */
  readonly plain: boolean;
}

const examples = [...(await fromComments()), ...(await fromReadme('README.md')), ...(await fromReadme('RECIPES.md')), ...(await fromReadme('../README.md'))];
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
};

let server: RealServer | undefined;
beforeAll(async () => {
  await mkdir(scratch, { recursive: true });
  if (SERVER_BINARY !== undefined) server = await realServer();
});
afterAll(async () => {
  await server?.close();
  await rm(scratch, { recursive: true, force: true });
});

describe('the examples', () => {
  it('exist for every exported class and function', () => {
    const exported = [...new Set([...Object.keys(main), ...Object.keys(client)])];
    expect(exported).toContain('Refloat');
    const without = exported.filter((name) => !examples.some((e) => e.declaration === name));
    expect(without).toEqual([]);
  });

  it('compile', () => {
    const sources = new Map(examples.map((e, i) => [fileURLToPath(new URL(`${i}.mts`, scratch)), e.code]));
    const host = ts.createCompilerHost(OPTIONS);
    const { fileExists, readFile: read, getSourceFile } = host;
    host.fileExists = (file) => sources.has(file) || fileExists(file);
    host.readFile = (file) => sources.get(file) ?? read(file);
    host.getSourceFile = (file, ...rest) => {
      const code = sources.get(file);
      return code === undefined ? getSourceFile(file, ...rest) : ts.createSourceFile(file, code, rest[0]);
    };
    const program = ts.createProgram([...sources.keys()], { ...OPTIONS, noEmit: true }, host);
    const faults = ts.getPreEmitDiagnostics(program).map((d) => {
      const at = d.file ? (examples[Number(/(\d+)\.mts$/.exec(d.file.fileName)?.[1])]?.name ?? d.file.fileName) : '';
      return `${at}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
    });
    expect(faults).toEqual([]);
  });

  for (const [i, example] of examples.entries()) {
    it.skipIf(example.needsServer && SERVER_BINARY === undefined)(`${example.name} runs`, async () => {
      const compiled = (): string => ts.transpileModule(example.code, { compilerOptions: OPTIONS, fileName: 'example.mts' }).outputText;
      const file = new URL(`${i}.mjs`, scratch);
      const url = server?.url ?? '';
      const code = (example.plain ? example.code : compiled()).replaceAll(DEFAULT_ADDRESS, url);
      await writeFile(file, `globalThis.url = ${JSON.stringify(url)};\n${code}`);
      await run(fileURLToPath(file));
    });
  }
});

function run(file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (piece: Buffer): void => void (output += piece.toString());
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}:\n${output}`))));
  });
}

/** The `@example` blocks of the sources, each named after the declaration or the method it belongs to. */
async function fromComments(): Promise<Example[]> {
  const found: Example[] = [];
  for (const file of await readdir(new URL('src/', root), { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const text = await readFile(new URL(`src/${file}`, root), 'utf8');
    for (const match of text.matchAll(/\/\*\*((?:(?!\*\/)[^])*?@example(?:(?!\*\/)[^])*)\*\/\s*(export (?:abstract )?\w+ |async )?(\w+)/g)) {
      const comment = (match[1] as string).replace(/^ *\* ?/gm, '');
      const declaration = match[2]?.startsWith('export') ? match[3] : undefined;
      for (const block of comment.matchAll(/```ts\n([^]*?)```/g)) {
        found.push({ ...example(`${file} (${match[3]})`, block[1] as string, false), declaration });
      }
    }
  }
  return found;
}

async function fromReadme(path: string): Promise<Example[]> {
  const text = await readFile(new URL(path, root), 'utf8');
  return [...text.matchAll(/```ts\n([^]*?)```/g)].map((block, i) => example(`${path} ${i + 1}`, atToySize(block[1] as string), true));
}

/** Full-size sets take minutes and 1.5 GB of keys, so they are replaced by a toy; everything else stays as written. */
function atToySize(code: string): string {
  return code.replaceAll(`rf.keygen('ship13')`, `rf.keygen('toy10', { allowInsecure: true })`);
}

function example(name: string, code: string, plain: boolean): Example {
  return { name, code, plain, needsServer: code.includes('declare const url') || code.includes(DEFAULT_ADDRESS) };
}
