// Asks the standards' own programs about documents: the TypeScript compiler about their interfaces,
// and the function of section 6.2 of STD-008 about what it checks.
//
// node check.js TYPESCRIPT FOLDER
//
// FOLDER holds `standards.ts` (the interfaces), `consistency.ts` (the function), and for each
// document `NAME.ts`, one constant of its interface, and `NAME.json`. Prints one line a document:
// {"name", "types": [messages], "rules": [messages]}.
'use strict';
const fs = require('fs');
const path = require('path');
const ts = require(process.argv[2]);
const folder = process.argv[3];

const own = ['standards.ts', 'consistency.ts'];
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.ts') && !own.includes(name));
names.sort();
const files = ['standards.ts', ...names].map((name) => path.join(folder, name));
const program = ts.createProgram(files, {
  strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts'], types: [],
});
const found = new Map();
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const file = diagnostic.file ? path.basename(diagnostic.file.fileName) : 'standards.ts';
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ').slice(0, 400);
  found.set(file, [...(found.get(file) || []), text]);
}
if (found.has('standards.ts')) {
  console.error(found.get('standards.ts').join('\n'));
  process.exit(2);
}
const source = fs.readFileSync(path.join(folder, 'consistency.ts'), 'utf8');
const compiled = ts.transpileModule(source, { compilerOptions: { target: ts.ScriptTarget.ES2022 } });
const consistency = new Function(`${compiled.outputText}; return validateMultiAgentSession;`)();
for (const file of names) {
  const name = file.slice(0, -3);
  const json = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));
  let rules = [];
  if (json.several) {
    try {
      rules = consistency(json.document).errors;
    } catch (error) {
      rules = [`the function throws: ${error.message}`];
    }
  }
  console.log(JSON.stringify({ name, types: found.get(file) || [], rules }));
}
