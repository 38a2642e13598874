// Asks the TypeScript compiler whether documents are of their types.
//
// node check.js TYPESCRIPT FILE…
//
// Prints one line for everything that the compiler finds wrong.
'use strict';
const path = require('path');
const ts = require(process.argv[2]);
const program = ts.createProgram(process.argv.slice(3), {
  strict: true, noEmit: true, skipLibCheck: false, target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts'], types: [],
});
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const file = diagnostic.file ? path.basename(diagnostic.file.fileName) : '';
  console.log(`${file}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`);
}
