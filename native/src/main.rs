//! x
use kinetoscope_core::read::{chrome::Reader,encoding::Decoder,unpack::Unpacker};
use kinetoscope_core::error::Error;
use std::io::Read;
fn main(){
  for p in std::env::args().skip(1) {
    let t=std::time::Instant::now();
    let mut f=std::fs::File::open(&p).unwrap();
    let (tx,rx)=std::sync::mpsc::sync_channel::<Vec<u8>>(8);
    let h=std::thread::spawn(move||{
      let mut u=Unpacker::new(Box::<kinetoscope::inflate::ZlibMember>::default());
      let mut b=vec![0;1<<18];
      let mut sink=|x:&[u8]|->Result<(),Error>{ let _=tx.send(x.to_vec()); Ok(())};
      loop { let n=f.read(&mut b).unwrap(); if n==0{break} u.feed(&b[..n],&mut sink).unwrap(); }
      u.finish(&mut sink).unwrap()
    });
    let mut r=Reader::default(); let mut d=Decoder::default(); let mut dg=Default::default(); let mut err=None;
    let mut busy=std::time::Duration::ZERO;
    for c in rx { let t0=std::time::Instant::now(); let mut o=vec![]; d.feed(&c,&mut o,&mut dg); if let Err(e)=r.feed(&o){err=Some(e);break;}  busy+=t0.elapsed();}
    let x=h.join();
    if err.is_none(){ let mut o=vec![]; d.finish(&mut o,&mut dg); if let Err(e)=r.feed(&o){err=Some(e)} }
    if let Some(e)=err{ println!("{p}\t-\t{e}"); continue;}
    match r.finish(){ Ok((t2,dd))=>{ println!("{p}\t{}\t{:?} busy {:?} names {} layouts {} heap {}",t2.len(),t.elapsed(),busy,t2.names.len(),t2.layouts.all().len(),t2.fields.heap_bytes());
      for f in dd.findings().iter().chain(x.unwrap().findings()) { println!("   {} {} {:?} {:?}",f.code.as_str(),f.count,f.first_offset,f.example); } }
      Err(e)=>println!("{p}\t-\t{e}") }
  }
}
