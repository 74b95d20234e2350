"""usage: generate.py SCENARIO N FILE: traces that are legal and unkind; N is their size."""
import json,sys,random,os
def X(name,ts,dur,cat='cpu_op',pid=1,tid=1,**args):
    e={"ph":"X","cat":cat,"name":name,"pid":pid,"tid":tid,"ts":ts,"dur":dur}
    if args: e["args"]={k.replace('__',' '):v for k,v in args.items()}
    return e
S={}
def sc(f): S[f.__name__]=f; return f
HEAD={"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","computeMajor":9,"computeMinor":0,"numSms":132,"totalGlobalMem":85000000000}]}
@sc
def nested(n): return [X("aten::op%d"%(i%50),i,4*n-2*i,External__id=i) for i in range(n)]
@sc
def overlap(n): return [X("aten::op%d"%(i%50),i,n,External__id=i) for i in range(n)]
@sc
def sametime(n): return [X("aten::op%d"%(i%50),5,100,External__id=i) for i in range(n)]
@sc
def zerodur(n): return [X("aten::op%d"%(i%50),5,0,External__id=i) for i in range(n)]
@sc
def flows1(n):
    r=[X("cudaLaunchKernel",2*i,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k",2*i+5,1,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
    for i in range(n):
        r.append({"ph":"s","id":1,"pid":1,"tid":1,"ts":2*i,"cat":"ac2g","name":"ac2g"})
        r.append({"ph":"f","id":1,"pid":0,"tid":7,"ts":2*i+5,"cat":"ac2g","name":"ac2g","bp":"e"})
    return r
@sc
def fwdbwd1(n):
    r=[X("aten::a",4*i,2,External__id=i,Sequence__number=i,Fwd__thread__id=0) for i in range(n)]+[X("MmBackward",4*i,2,tid=2,External__id=n+i,Sequence__number=i,Fwd__thread__id=1) for i in range(n)]
    for i in range(n):
        r.append({"ph":"s","id":1,"pid":1,"tid":1,"ts":4*i,"cat":"fwdbwd","name":"fwdbwd"})
        r.append({"ph":"f","id":1,"pid":1,"tid":2,"ts":4*i,"cat":"fwdbwd","name":"fwdbwd","bp":"e"})
    return r
@sc
def seqequal(n):
    return [X("aten::a",4*i,2,External__id=i,Sequence__number=7,Fwd__thread__id=0) for i in range(n)]+[X("MmBackward",4*i,2,tid=2,External__id=n+i,Sequence__number=7,Fwd__thread__id=1) for i in range(n)]
@sc
def correqual(n):
    return [X("cudaLaunchKernel",2*i,1,'cuda_runtime',correlation=7) for i in range(n)]+[X("k",2*i+5,1,'kernel',0,7,device=0,stream=7,correlation=7) for i in range(n)]
@sc
def extequal(n):
    return [X("aten::a",10*i,9,External__id=7) for i in range(n)]+[X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i,External__id=7) for i in range(n)]+[X("k",10*i+5,1,'kernel',0,7,device=0,stream=7,correlation=i,External__id=7) for i in range(n)]
@sc
def corr0(n):
    return [X("cudaLaunchKernel",2*i,1,'cuda_runtime',correlation=0,External__id=0) for i in range(n)]+[X("k",2*i+5,1,'kernel',0,7,device=0,stream=7,correlation=0,External__id=0) for i in range(n)]
@sc
def late(n): # all launches first, kernels much later: a deep queue
    return [X("aten::a",10*i,9,External__id=i) for i in range(n)]+[X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i,External__id=i) for i in range(n)]+[X("k%d"%(i%30),20*n+5*i,4,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i) for i in range(n)]
@sc
def rev_queue(n): # kernels in reverse order of launches
    return [X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k%d"%(i%30),40*n-5*i,4,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def counters_names(n): return [{"ph":"C","name":"c%d"%i,"pid":1,"tid":1,"ts":i,"args":{"v":i}} for i in range(n)]
@sc
def counters_keys(n): return [{"ph":"C","name":"c","pid":1,"tid":1,"ts":i,"args":{"v%d"%i:i}} for i in range(n)]
@sc
def counter_bigkeys(n): return [{"ph":"C","name":"c","pid":1,"tid":1,"ts":1,"args":{"v%d"%i:i for i in range(n)}}]*2
@sc
def threads(n): return [X("aten::a",i,2,tid=i) for i in range(n)]
@sc
def names(n): return [X("op_%d_%s"%(i,'x'*20),i,1) for i in range(n)]
@sc
def kernel_names(n): return [X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k%d<float>(int)"%i,10*i+5,4,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def argkeys(n): return [X("a",i,1,**{"key%d"%i:i}) for i in range(n)]
@sc
def argkeys_many(n): return [X("a",i,1,**{"key%d"%(i*37%1000+j):i for j in range(20)}) for i in range(n//20)]
@sc
def cats(n): return [X("a",i,1,'cat%d'%i) for i in range(n)]
@sc
def steps_seq(n): return [X("ProfilerStep#%d"%i,10*i,10,'user_annotation') for i in range(n)]+[X("aten::a",10*i+1,5,External__id=i) for i in range(n)]+[X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i,External__id=i) for i in range(n)]+[X("k",10*i+3,4,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i) for i in range(n)]
@sc
def annot_nested(n): return [X("ann%d"%i,i,4*n-2*i,'user_annotation') for i in range(n)]+[X("gpu_ann%d"%i,i,4*n-2*i,'gpu_user_annotation',0,7,device=0,stream=7) for i in range(n)]
@sc
def B_only(n): return [{"ph":"B","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":i} for i in range(n)]
@sc
def E_only(n): return [{"ph":"E","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":i} for i in range(n)]
@sc
def BE_nomatch(n): return [{"ph":"B","name":"a%d"%i,"cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"E","name":"b%d"%i,"cat":"c","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def async_1(n): return [{"ph":"b","id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"e","id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def async_open(n): return [{"ph":"b","id":i,"name":"a","cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]
@sc
def async_S(n): return [{"ph":"S","id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"F","id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def obj(n): return [{"ph":"N","id":1,"name":"o","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"D","id":1,"name":"o","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def nccl_overlap(n): return [X("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",i,n,'kernel',0,i%1000,device=0,stream=i%1000,correlation=i,**{"Collective name":"allreduce","In msg nelems":5,"Out msg nelems":5,"Group size":8,"dtype":"Float","Process Group Name":"%d"%(i%500)}) for i in range(n)]
@sc
def streams(n): return [X("cudaLaunchKernel",2*i,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k",2*i,2*n,'kernel',0,i,device=0,stream=i,correlation=i) for i in range(n)]
@sc
def mem_same(n): return [{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":i,"args":{"Addr":140,"Bytes":512,"Device Type":1,"Device Id":0,"Total Allocated":512*i,"Total Reserved":1<<20}} for i in range(n)]
@sc
def mem_live(n): return [{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":i,"args":{"Addr":140+i,"Bytes":512,"Device Type":1,"Device Id":0,"Total Allocated":512*i,"Total Reserved":1<<20}} for i in range(n)]
@sc
def mem_frees(n): return [{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":i,"args":{"Addr":140+i%7,"Bytes":-512,"Device Type":1,"Device Id":0,"Total Allocated":512*i,"Total Reserved":1<<20}} for i in range(n)]
@sc
def syncs(n): return [X("cudaStreamSynchronize",10*i,9,'cuda_runtime',correlation=2*i) for i in range(n)]+[X("cudaLaunchKernel",10*i+9,1,'cuda_runtime',correlation=2*i+1) for i in range(n)]+[X("k",10*i+12,4,'kernel',0,i%100,device=0,stream=i%100,correlation=2*i+1) for i in range(n)]+[X("Stream Sync",10*i,9,'cuda_sync',0,i%100,device=0,stream=i%100,correlation=2*i) for i in range(n)]
@sc
def eventwait(n):
    r=[]
    for i in range(n):
        r+= [X("cudaEventRecord",10*i,1,'cuda_runtime',correlation=4*i),X("cudaStreamWaitEvent",10*i+2,1,'cuda_runtime',correlation=4*i+1),X("cudaLaunchKernel",10*i+4,1,'cuda_runtime',correlation=4*i+2),X("k",10*i+6,4,'kernel',0,i%100,device=0,stream=i%100,correlation=4*i+2),X("Stream Wait Event",10*i+2,1,'cuda_sync',0,i%100,device=0,stream=i%100,correlation=4*i+1,wait_on_stream=(i+1)%100,wait_on_cuda_event_record_corr_id=4*i,wait_on_cuda_event_id=1)]
    return r
@sc
def callstack(n):
    s=";".join("f.py(%d): g%d"%(i,i) for i in range(100))
    return [X("aten::a",3*i,2,External__id=i,**{"Call stack":s}) for i in range(n//20)]
@sc
def callstack_deep(n):
    s=";".join("f.py(%d): g%d"%(i,i) for i in range(n))
    return [X("aten::a",3*i,2,External__id=i,**{"Call stack":s[:3_900_000]}) for i in range(2)]
@sc
def dims(n): return [X("aten::mm",3*i,2,External__id=i,**{"Input Dims":[[i,5],[5,6]],"Input type":["float","float"],"Concrete Inputs":["",""],"Sequence number":i}) for i in range(n)]
@sc
def dims_big(n): return [X("aten::mm",3,2,External__id=1,**{"Input Dims":[[i,5] for i in range(n)],"Input type":["float"]*n})]
@sc
def seq_aaaa(n): return [X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k",10*i+5,4,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def seq_fib(n):
    a,b="a","ab"
    while len(b)<n: a,b=b,b+a
    return [X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k"+b[i],10*i+5,4,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def seq_rand(n):
    r=random.Random(1)
    return [X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k%d"%r.randrange(200),10*i+5,4,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def meta(n): return [{"ph":"M","name":"process_name","pid":1,"tid":1,"ts":0,"args":{"name":"p%d"%i}} for i in range(n)]+[{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"p%d"%i}} for i in range(n)]+[X("a",1,1)]
@sc
def instants(n): return [{"ph":"i","s":"t","name":"inst","cat":"c","pid":1,"tid":1,"ts":5} for i in range(n)]
@sc
def kernels_overlap_stream(n): return [X("cudaLaunchKernel",2*i,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("k",2*i,2*n,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def memcpy(n): return [X("cudaMemcpyAsync",2*i,1,'cuda_runtime',correlation=i) for i in range(n)]+[X("Memcpy HtoD (Pageable -> Device)",2*i+1,1,'gpu_memcpy',0,7,device=0,stream=7,correlation=i,bytes=1000) for i in range(n)]
@sc
def record_fn(n): return [X("Optimizer.step#SGD.step",10*i,9,'user_annotation',External__id=i) for i in range(n)]+[X("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",10*i+2,3,'user_annotation',External__id=n+i) for i in range(n)]
@sc
def rev_file(n): return [X("aten::op%d"%(i%50),n-i,1,External__id=i) for i in range(n)]
@sc
def nested_launch(n): return [X("aten::op%d"%(i%50),i,8*n-2*i,External__id=i) for i in range(n)]+[X("cudaLaunchKernel",n+2*i,1,'cuda_runtime',correlation=i,External__id=i) for i in range(n)]+[X("k",4*n+5*i,4,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i) for i in range(n)]
@sc
def npu(n):
    r=[X("aten::a",4*i,3) for i in range(n)]+[X("npuk",4*i+8,3,'kernel',0,7) for i in range(n)]
    for i in range(n):
        r.append({"ph":"s","id":1,"pid":1,"tid":1,"ts":4*i,"cat":"async_npu","name":"async_npu"}); r.append({"ph":"f","id":1,"pid":0,"tid":7,"ts":4*i+8,"cat":"async_npu","name":"async_npu","bp":"e"})
    return r
@sc
def samples_legacy(n):
    return {"traceEvents":[X("a",1,n*10)],"stackFrames":{str(i):dict({"name":"f%d"%i,"category":"c"},**({"parent":str(i-1)} if i else {})) for i in range(n)},"samples":[{"cpu":0,"tid":1,"ts":i,"name":"s","sf":str(n-1),"weight":1} for i in range(n)]}
@sc
def ktasks(n):
    r=[]
    for i in range(n):
        r.append({"ph":"b","id":i,"name":"task","cat":"task","pid":1,"tid":1,"ts":i}); r.append({"ph":"e","id":i,"name":"task","cat":"task","pid":1,"tid":1,"ts":3*n+i})
    return r
@sc
def samples_arg(n):
    s=";".join("f%d"%i for i in range(200))
    return [{"ph":"i","s":"t","name":"sample","cat":"sample","pid":1,"tid":1,"ts":i,"args":{"Call stack":s}} for i in range(n//20)]
@sc
def dupflow_ids_chain(n):
    return [X("a",4*i,3) for i in range(n)]+[{"ph":"t","id":1,"pid":1,"tid":1,"ts":4*i,"cat":"x","name":"x"} for i in range(n)]
@sc
def id_as_strings(n): return [{"ph":"X","cat":"cpu_op","name":"a","pid":"proc %d"%(i%300),"tid":"thread %d"%i,"ts":i,"dur":1} for i in range(n)]
@sc
def gpu_ann_many(n): return [X("gpuann",i,2*n,'gpu_user_annotation',0,7,device=0,stream=7) for i in range(n)]+[X("k",2*i,1,'kernel',0,7,device=0,stream=7,correlation=i) for i in range(n)]
@sc
def threads_of_20(n): return [e for i in range(n) for e in (X("aten::a",10*i,9,tid=i//20,External__id=i),X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',tid=i//20,correlation=i,External__id=i),X("k",10*i+3,8,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i))]
@sc
def processes(n): return [e for i in range(n) for e in (X("aten::a",10*i,9,pid=i,External__id=i),X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',pid=i,correlation=i,External__id=i),X("k",10*i+3,4,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i))]
@sc
def devices(n): return [e for i in range(n) for e in (X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i),X("k",10*i+3,4,'kernel',i,7,device=i,stream=7,correlation=i))]
@sc
def steps_overlap(n): return [X("ProfilerStep#%d"%i,10*i,10*n,'user_annotation') for i in range(n)]+[X("aten::a",10*i+1,5,External__id=i) for i in range(n)]+[X("cudaLaunchKernel",10*i+1,1,'cuda_runtime',correlation=i,External__id=i) for i in range(n)]+[X("k",10*i+3,4,'kernel',0,7,device=0,stream=7,correlation=i,External__id=i) for i in range(n)]
@sc
def steps_of_threads(n): return [X("ProfilerStep#%d"%i,10*i,10*n,'user_annotation',tid=i) for i in range(n)]+[X("aten::a",10*i+1,5,tid=i,External__id=i) for i in range(n)]
@sc
def async_mismatch(n): return [{"ph":"b","id":i,"name":"a%d"%i,"cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"e","id":i,"name":"b%d"%i,"cat":"c","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def async_names(n): return [{"ph":"b","id":1,"name":"a%d"%i,"cat":"c","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"e","id":1,"name":"a%d"%i,"cat":"c","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def async_overlap(n): return [e for i in range(n) for e in ({"ph":"b","id":i,"name":"a%d"%(i%9),"cat":"c","pid":1,"tid":1,"ts":i},{"ph":"e","id":i,"name":"a%d"%(i%9),"cat":"c","pid":1,"tid":1,"ts":i+n})]
@sc
def BE_nested(n): return [{"ph":"B","name":"a%d"%i,"cat":"cpu_op","pid":1,"tid":1,"ts":i} for i in range(n)]+[{"ph":"E","name":"a%d"%(n-1-i),"cat":"cpu_op","pid":1,"tid":1,"ts":n+i} for i in range(n)]
@sc
def python_nested(n): return [X("m%d.py(%d): f"%(i%7,i),i,4*n-2*i,'python_function',Python__id=i,Python__parent__id=i-1 if i else None) for i in range(n)]+[X("nn.Module: M_%d"%i,i+n,2*n-i,'python_function',Python__id=n+i,Python__parent__id=n+i-1) for i in range(n//4)]
@sc
def mem_devices(n): return [{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":i,"args":{"Addr":140+i,"Bytes":512,"Device Type":1,"Device Id":i,"Total Allocated":512*i,"Total Reserved":1<<20}} for i in range(n)]
@sc
def graph(n): return [X("cudaGraphLaunch",1000*i,5,'cuda_runtime',correlation=i) for i in range(n//100+1)]+[X("k%d"%(i%100),1000*(i//100)+9*(i%100)+10,8,'kernel',0,7,device=0,stream=7,correlation=i//100,**{"graph node id":i}) for i in range(n)]
@sc
def graph_one(n): return [X("cudaGraphLaunch",1,5,'cuda_runtime',correlation=1)]+[X("k%d"%(i%100),9*i+10,8,'kernel',0,7,device=0,stream=7,correlation=1) for i in range(n)]
@sc
def streams_gaps(n): return [X("cudaLaunchKernel",10*i,1,'cuda_runtime',correlation=i,tid=i%50) for i in range(n)]+[X("k",10*i+3,4,'kernel',0,i,device=0,stream=i,correlation=i) for i in range(n)]
@sc
def v8_profile(n):
    nodes=[{"id":i+1,"callFrame":{"functionName":"f%d"%i,"scriptId":1,"url":"u"},**({"parent":i} if i else {})} for i in range(n)]
    return [{"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"Profile","pid":1,"tid":1,"ts":1,"args":{"data":{"startTime":1}}},
        {"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"ProfileChunk","pid":1,"tid":1,"ts":2,"args":{"data":{"cpuProfile":{"nodes":nodes,"samples":[n]*n},"timeDeltas":[1]*n}}}]
@sc
def v8_chunks(n):
    return [{"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"Profile","pid":1,"tid":1,"ts":1,"args":{"data":{"startTime":1}}}]+[
        {"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"ProfileChunk","pid":1,"tid":1,"ts":2+i,"args":{"data":{"cpuProfile":{"nodes":[{"id":i+1,"callFrame":{"functionName":"f%d"%i,"scriptId":1,"url":"u"},**({"parent":i} if i else {})}],"samples":[i+1]},"timeDeltas":[1]}}} for i in range(n)]
@sc
def groups(n):
    return {"distributedInfo":{"backend":"nccl","rank":0,"world_size":8,"pg_config":[{"pg_name":str(i),"ranks":[0,1]} for i in range(n)]},
        "traceEvents":[X("ncclDevKernel_AllReduce",10*i,9,'kernel',0,7,device=0,stream=7,correlation=i,**{"Collective name":"allreduce","In msg nelems":5,"Out msg nelems":5,"Group size":8,"dtype":"Float","Process Group Name":"%d"%i}) for i in range(n)]}
def write(name,n,path):
    r=S[name](n)
    d=dict(HEAD)
    if isinstance(r,dict): d.update(r)
    else: d["traceEvents"]=r
    with open(path,'w') as f: json.dump(d,f)
if __name__=='__main__':
    write(sys.argv[1],int(sys.argv[2]),sys.argv[3])
