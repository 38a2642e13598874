//! x
pub struct Code; pub struct Finding; pub struct Report; pub struct Standard;
pub fn validate(){} pub fn validate_bytes(){}
